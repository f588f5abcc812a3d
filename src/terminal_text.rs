//! Bytes as text that a terminal shows and a person reads as what they are.
//!
//! Control characters could drive the terminal, bidirectional ones reorder a command, zero-width ones hide a part of
//! it, and look-alikes make one name read as another. All of them are written out as escapes; the rest stays.

use std::fmt::Write as _;

/// `bytes` on one line: line breaks and tabs are escaped too.
pub fn line(bytes: &[u8]) -> String {
    render(bytes, false)
}

/// `bytes` as they are laid out: line breaks stay, a tab becomes four spaces.
pub fn block(bytes: &[u8]) -> String {
    render(bytes, true)
}

fn render(bytes: &[u8], layout: bool) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        render_valid(chunk.valid(), layout, &mut out);
        for byte in chunk.invalid() {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

fn render_valid(text: &str, layout: bool, out: &mut String) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len()).max(first.len_utf8());
        let (head, tail) = rest.split_at(word);
        // A word of one foreign script is someone's language; one that also holds ASCII letters is a disguise.
        let mixed = head.bytes().any(|b| b.is_ascii_alphabetic());
        head.chars().for_each(|c| push(c, mixed, layout, out));
        rest = tail;
    }
}

fn push(c: char, mixed: bool, layout: bool, out: &mut String) {
    match c {
        '\n' if layout => out.push(c),
        '\t' if layout => out.push_str("    "),
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        c if c.is_ascii_control() => {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
        }
        c if c.is_ascii() => out.push(c),
        c if among(HIDDEN, c) || (mixed && among(LOOK_ALIKE_LETTERS, c)) => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
        c => out.push(c),
    }
}

/// Whether `c` lies in one of `ranges` (sorted, inclusive).
fn among(ranges: &[(u32, u32)], c: char) -> bool {
    let code = u32::from(c);
    let after = ranges.partition_point(|&(first, _)| first <= code);
    ranges.get(..after).and_then(<[_]>::last).is_some_and(|&(_, last)| code <= last)
}

/// Characters that show nothing, reorder text, or pass for ASCII punctuation or a space (Unicode 16: general category
/// Cc, Cf, Zl, Zp, Zs, Co, default-ignorable code points, and the confusables of `- / \ : ; < > | & $ ' " . * ~`).
const HIDDEN: &[(u32, u32)] = &[
    (0x80, 0xA0),
    (0xAD, 0xAD),
    (0x2BC, 0x2BC),
    (0x2C2, 0x2C3),
    (0x2D0, 0x2D0),
    (0x2F8, 0x2F8),
    (0x34F, 0x34F),
    (0x37E, 0x37E),
    (0x589, 0x589),
    (0x600, 0x605),
    (0x61C, 0x61C),
    (0x6DD, 0x6DD),
    (0x70F, 0x70F),
    (0x115F, 0x1160),
    (0x1680, 0x1680),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2000, 0x2013),
    (0x2018, 0x201F),
    (0x2024, 0x2024),
    (0x2028, 0x2037),
    (0x2039, 0x203A),
    (0x2043, 0x2044),
    (0x205F, 0x206F),
    (0x2212, 0x2212),
    (0x2215, 0x2217),
    (0x2223, 0x2223),
    (0x2236, 0x2236),
    (0x223C, 0x223C),
    (0x276E, 0x276F),
    (0x2800, 0x2800),
    (0x29F5, 0x29F5),
    (0x29F8, 0x29F9),
    (0x3000, 0x3000),
    (0x3164, 0x3164),
    (0xA789, 0xA789),
    (0xE000, 0xF8FF),
    (0xFE00, 0xFE0F),
    (0xFE50, 0xFE6B),
    (0xFEFF, 0xFEFF),
    (0xFF01, 0xFF0F),
    (0xFF1A, 0xFF20),
    (0xFF3B, 0xFF40),
    (0xFF5B, 0xFF5E),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0x10_FFFF),
];

/// Letters and digits of the scripts whose forms pass for ASCII ones.
const LOOK_ALIKE_LETTERS: &[(u32, u32)] = &[
    (0x131, 0x131),
    (0x17F, 0x17F),
    (0x1C0, 0x1C3),
    (0x250, 0x2AF),
    (0x370, 0x3FF),
    (0x400, 0x52F),
    (0x531, 0x586),
    (0x13A0, 0x13FF),
    (0x1D00, 0x1D7F),
    (0x2070, 0x209C),
    (0x2100, 0x214F),
    (0x2160, 0x2188),
    (0x2C60, 0x2C7F),
    (0xA4D0, 0xA4FF),
    (0xAB30, 0xABBF),
    (0xFF10, 0xFF19),
    (0xFF21, 0xFF3A),
    (0xFF41, 0xFF5A),
    (0x1_D400, 0x1_D7FF),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_stays() {
        for text in
            ["git commit -m 'x' && ls ~/a*", "naïve café", "привет мир", "日本語", "größe", "a — b", "it costs 5 €"]
        {
            assert_eq!(line(text.as_bytes()), text);
        }
    }

    #[test]
    fn what_drives_hides_or_reorders_is_written_out() {
        let rows: &[(&[u8], &str)] = &[
            (b"a\x1b[2Jb", "a\\x1b[2Jb"),
            (b"a\rb\x07\x7f", "a\\rb\\x07\\x7f"),
            (b"a\xff\xc3(", "a\\xff\\xc3("),
            ("\u{9b}31m".as_bytes(), "\\u{9b}31m"),
            ("rm \u{202e}cod.txt".as_bytes(), "rm \\u{202e}cod.txt"),
            ("r\u{200b}m".as_bytes(), "r\\u{200b}m"),
            ("\u{2066}x\u{2069}".as_bytes(), "\\u{2066}x\\u{2069}"),
            ("rm\u{a0}-rf".as_bytes(), "rm\\u{a0}-rf"),
            ("a\u{2028}b".as_bytes(), "a\\u{2028}b"),
            ("\u{e0041}".as_bytes(), "\\u{e0041}"),
        ];
        for (bytes, shown) in rows {
            assert_eq!(line(bytes), *shown);
        }
    }

    #[test]
    fn look_alikes_are_written_out() {
        // Cyrillic er, ie and a among ASCII letters, a fraction slash, a minus sign, a full-width semicolon.
        assert_eq!(line("\u{440}ip ins\u{435}t".as_bytes()), "\\u{440}ip ins\\u{435}t");
        assert_eq!(line("etc\u{2044}passwd \u{2212}f\u{ff1b}".as_bytes()), "etc\\u{2044}passwd \\u{2212}f\\u{ff1b}");
    }

    #[test]
    fn a_block_keeps_its_lines() {
        assert_eq!(block(b"a\n\tb\r\n"), "a\n    b\\r\n");
        assert_eq!(line(b"a\n\tb"), "a\\n\\tb");
    }

    #[test]
    fn tables_are_sorted() {
        for table in [HIDDEN, LOOK_ALIKE_LETTERS] {
            assert!(table.is_sorted() && table.iter().all(|(first, last)| first <= last));
        }
    }
}
