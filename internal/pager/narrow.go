package pager

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Narrow writes to a program that reads text in the console's code page, as more and PowerShell 5 do.
type Narrow struct {
	to    io.Writer
	other func(rune) string // writes a character beyond ASCII
	half  []byte            // the first bytes of a character, whose rest comes with the next write
}

// Write implements io.Writer.
func (n *Narrow) Write(text []byte) (int, error) {
	all := append(n.half, text...)
	n.half = nil
	var out strings.Builder
	for len(all) > 0 {
		if !utf8.FullRune(all) {
			n.half = append(n.half, all...)
			break
		}
		r, size := utf8.DecodeRune(all)
		if r < utf8.RuneSelf {
			out.WriteByte(byte(r))
		} else {
			out.WriteString(n.other(r))
		}
		all = all[size:]
	}
	if _, err := io.WriteString(n.to, out.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Raw returns the writer below a Narrow one, for text that programs read as UTF-8, such as CSV. It returns any other
// writer itself.
func Raw(w io.Writer) io.Writer {
	if n, ok := w.(*Narrow); ok {
		return n.to
	}
	return w
}

// JSON returns a writer for JSON. On a Narrow one, it escapes characters beyond ASCII.
func JSON(w io.Writer) io.Writer {
	if n, ok := w.(*Narrow); ok {
		return &Narrow{to: n.to, other: escaped}
	}
	return w
}

func escaped(r rune) string {
	if r < 0x10000 {
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
}

// plain holds ASCII replacements for signs that are missing from some code page of Western Europe. Most have the sign's
// width.
var plain = map[rune]string{
	'…': "...", '−': "-", '–': "-", '—': "-", '·': ".", '→': "->", '“': `"`, '”': `"`, '„': `"`, '’': "'", '‘': "'", '×': "x", '±': "+-",
	'²': "2", '₀': "0", '₁': "1", '₂': "2", 'µ': "u", 'μ': "u", '≥': ">=", '≤': "<=", '≠': "!=", '≈': "~", '✔': "+", '✘': "x", '√': "sqrt ",
	'∞': "inf", 'σ': "sigma", 'ν': "nu", 'κ': "kappa", 'τ': "tau", 'λ': "lambda", 'θ': "theta", 'γ': "gamma", 'δ': "delta", 'Σ': "sum",
	'α': "alpha", '\u0302': "^", '\u00a0': " ", '\u202f': " ",
}

// codePages holds the consoles' code pages, by number. For others, ASCII is written.
var codePages = map[uint32]*charmap.Charmap{437: charmap.CodePage437, 850: charmap.CodePage850, 852: charmap.CodePage852,
	855: charmap.CodePage855, 858: charmap.CodePage858, 860: charmap.CodePage860, 862: charmap.CodePage862, 863: charmap.CodePage863,
	865: charmap.CodePage865, 866: charmap.CodePage866, 874: charmap.Windows874, 1250: charmap.Windows1250, 1251: charmap.Windows1251,
	1252: charmap.Windows1252, 1253: charmap.Windows1253, 1254: charmap.Windows1254, 1257: charmap.Windows1257}

// inPage returns a function that writes characters for a code page: Filewise's own signs in ASCII, and characters of
// users' names as the page has them.
func inPage(page uint32) func(rune) string {
	letters := codePages[page]
	return func(r rune) string {
		if text, ok := plain[r]; ok {
			return text
		}
		if letters != nil {
			if b, ok := letters.EncodeRune(r); ok {
				return string([]byte{b})
			}
		}
		return "?"
	}
}
