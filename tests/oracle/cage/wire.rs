//! What goes between the test and the cage: fields of bytes, each after its length.

use std::io::{self, Read, Write};

/// Fields in the order in which they are written.
#[derive(Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    pub fn field(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
        self.0.extend_from_slice(bytes);
    }

    pub fn list<T: AsRef<[u8]>>(&mut self, items: &[T]) {
        let mut list = Self::default();
        for item in items {
            list.field(item.as_ref());
        }
        self.field(&list.0);
    }

    /// Sends everything as one message.
    pub fn send(&self, to: &mut impl Write) -> io::Result<()> {
        let mut message = Self::default();
        message.field(&self.0);
        to.write_all(&message.0)?;
        to.flush()
    }
}

/// Fields in the order in which they were written; what is missing is empty.
pub struct Reader<'m>(pub &'m [u8]);

impl<'m> Reader<'m> {
    pub fn field(&mut self) -> &'m [u8] {
        let Some((length, rest)) = self.0.split_first_chunk::<4>() else {
            self.0 = &[];
            return &[];
        };
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let (field, rest) = rest.split_at(length.min(rest.len()));
        self.0 = rest;
        field
    }

    pub fn list(&mut self) -> Vec<&'m [u8]> {
        let mut list = Reader(self.field());
        let mut items = Vec::new();
        while !list.0.is_empty() {
            items.push(list.field());
        }
        items
    }
}

/// Takes one message; `None` at the end.
pub fn receive(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut message = vec![0; usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX)];
    from.read_exact(&mut message)?;
    Ok(Some(message))
}
