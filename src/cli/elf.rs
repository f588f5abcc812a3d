//! Whether a program is linked statically.

/// Program header type of the name of the dynamic loader.
const PT_INTERP: u32 = 3;

/// Whether the ELF file `binary` asks for a dynamic loader, which follows variables such as `LD_PRELOAD`. True also for
/// what is no 64-bit little-endian ELF file: nothing can be said about that.
pub(super) fn interpreter(binary: &[u8]) -> bool {
    headers(binary).is_none_or(|types| types.contains(&PT_INTERP))
}

/// The types of all program headers.
fn headers(binary: &[u8]) -> Option<Vec<u32>> {
    if binary.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let table = usize::try_from(u64::from_le_bytes(array(binary, 32)?)).ok()?;
    let size = usize::from(u16::from_le_bytes(array(binary, 54)?));
    let count = usize::from(u16::from_le_bytes(array(binary, 56)?));
    (0..count).map(|index| Some(u32::from_le_bytes(array(binary, table.checked_add(index * size)?)?))).collect()
}

fn array<const N: usize>(binary: &[u8], at: usize) -> Option<[u8; N]> {
    binary.get(at..at.checked_add(N)?)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_elf_file_counts_as_dynamic() {
        assert!(interpreter(b"#!/bin/sh\n"));
        assert!(interpreter(b"\x7fELF\x02\x01"));
    }

    #[test]
    fn a_static_file_has_no_interpreter() {
        let mut binary = vec![0; 64 + 56];
        binary[..6].copy_from_slice(b"\x7fELF\x02\x01");
        binary[32] = 64;
        binary[54] = 56;
        binary[56] = 1;
        binary[64] = 1;
        assert!(!interpreter(&binary));
        binary[64] = 3;
        assert!(interpreter(&binary));
    }
}
