package customsql

import "strings"

// words returns the words of a statement's code, in capitals; hidden reports whether a comment holds code.
func (r Rules) words(text string) (words []string, hidden bool) {
	for _, p := range r.scan(text) {
		switch p.kind {
		case pieceNote:
			if r.Hash && (strings.HasPrefix(p.text, "/*!") || strings.HasPrefix(p.text, "/*M!")) {
				hidden = true
			}
		case pieceQuoted: // a name is kept, behind a mark
			words = append(words, `"`)
			if c := p.text[0]; c == '"' || c == '`' {
				words[len(words)-1] += strings.ToUpper(strings.Trim(p.text, `"`+"`"))
			}
		case pieceCode:
			between := func(c rune) bool { return c < 0x80 && !inName(byte(c)) && c != '.' && (c != '$' || !r.Hash) }
			for _, w := range strings.FieldsFunc(p.text, between) {
				words = append(words, strings.ToUpper(w))
			}
		}
	}
	if len(words) == 0 {
		words = []string{""}
	}
	return words, hidden
}

// Words returns the words of a statement's code, for an engine's own guard.
func (r Rules) Words(text string) []Word {
	var all []Word
	for _, t := range r.Tokens(text) {
		if !t.Gap {
			all = append(all, t.Word)
		}
	}
	return all
}

// Token is a word as written in a text, or the gap between two words.
type Token struct {
	Word
	Raw string
	Gap bool
}

// Tokens divides a text. The Raw fields of all tokens, joined, are the text.
func (r Rules) Tokens(text string) []Token {
	var all []Token
	for _, p := range r.scan(text) {
		switch p.kind {
		case pieceNote:
			all = append(all, Token{Raw: p.text, Gap: true})
		case pieceCode:
			all = append(all, tokensOf(p.text)...)
		case pieceParam:
			all = append(all, Token{Word: Word{Text: p.text}, Raw: ":" + p.text})
		default:
			all = append(all, Token{Word: Word{p.text, p.kind == pieceQuoted}, Raw: p.text})
		}
	}
	return all
}

func tokensOf(code string) (all []Token) {
	for at := 0; at < len(code); {
		n := 0
		for at+n < len(code) && (inName(code[at+n]) || strings.IndexByte("@#$", code[at+n]) >= 0) {
			n++
		}
		gap := n == 0 && code[at] <= ' '
		n = max(n, 1)
		all = append(all, Token{Word: Word{Text: strings.ToUpper(code[at : at+n])}, Raw: code[at : at+n], Gap: gap})
		at += n
	}
	return all
}
