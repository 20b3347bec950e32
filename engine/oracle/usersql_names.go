// This file keeps users' SQL among the objects of one build. What the set-up creates gets names of the build, and
// nothing else may be written to.

package oracle

import (
	"slices"
	"strings"

	"filewise"
	"filewise/engine/customsql"
)

// A build has no schema of its own. Custom SQL works in the account's schema, next to other builds and other objects.

// userNames maps the names in a set-up, as the server folds them, to names in the build.
type userNames struct {
	in       map[string]string
	Tables   []string    // names in the build, in the order of creation
	Programs [][2]string // kind and name in the build of everything except tables and indexes
	identity bool        // a column is numbered by a sequence of the server's
	copy     bool        // of a schema, whose user has no right on other objects
	data     string      // tablespaces of rows and of indexes
	index    string
}

// customKinds lists the kinds of object that a set-up can create.
var customKinds = []string{"TABLE", "INDEX", "VIEW", "SEQUENCE", "PROCEDURE", "FUNCTION", "PACKAGE"}

// userNamesOf names what a set-up creates. nth returns the names of the build's nth table, key and program.
func userNamesOf(c *filewise.CustomSQL, data, index string, nth func(i int) (table, key, program string)) userNames {
	own := userNames{in: map[string]string{}, data: data, index: index, copy: c.From != ""}
	keys := 0
	for _, text := range c.Setup {
		words := own.Plain().Words(text.Text)
		for i := range words {
			own.identity = own.identity || words[i].Is("IDENTITY")
			kind, name := created(words[i:])
			if kind == "" || own.in[name] != "" {
				continue
			}
			switch kind {
			case "TABLE":
				own.in[name], _, _ = nth(len(own.Tables))
				own.Tables = append(own.Tables, own.in[name])
			case "INDEX", "CONSTRAINT":
				_, own.in[name], _ = nth(keys)
				keys++
			default:
				_, _, own.in[name] = nth(len(own.Programs))
				own.Programs = append(own.Programs, [2]string{kind, own.in[name]})
			}
		}
	}
	return own
}

// Creates reports whether a set-up creates something of a kind.
func (o userNames) Creates(kind string) bool {
	return kind == "SEQUENCE" && o.identity || slices.ContainsFunc(o.Programs, func(p [2]string) bool { return p[0] == kind })
}

// Plain returns the rules of Oracle's SQL syntax.
func (userNames) Plain() customsql.Rules {
	return customsql.Rules{Numbered: ":", Each: true, Upper: true}
}

// Rules returns the rules that keep SQL with these names among the build's objects.
func (o userNames) Rules() customsql.Rules {
	r := o.Plain()
	r.Guard, r.Adapt = o.Guard, o.Adapt
	return r
}

// created returns the object that a statement creates, or "" if it creates none that a set-up can create.
func created(words []customsql.Word) (kind, name string) {
	if userAt(words, 0).Is("CONSTRAINT") {
		return "CONSTRAINT", folded(userAt(words, 1))
	}
	if !userAt(words, 0).Is("CREATE") {
		return "", ""
	}
	i := 1
	for userAt(words, i).Is("OR", "REPLACE", "UNIQUE", "BITMAP", "EDITIONABLE", "NONEDITIONABLE", "FORCE", "NO") {
		i++
	}
	return userObject(words, i)
}

// userObject returns the kind and the name of the object at word i: TABLE [IF [NOT] EXISTS] t.
func userObject(words []customsql.Word, i int) (kind, name string) {
	if kind = userAt(words, i).Text; !userAt(words, i).Is(customKinds...) {
		return "", ""
	}
	for i++; userAt(words, i).Is("BODY", "IF", "NOT", "EXISTS"); {
		i++
	}
	if name = folded(userAt(words, i)); name == "" {
		return "", ""
	}
	return kind, name
}

// userAt returns word i, or an empty word beyond the ends.
func userAt(words []customsql.Word, i int) customsql.Word {
	if i < 0 || i >= len(words) {
		return customsql.Word{}
	}
	return words[i]
}

// folded returns a name as the server stores it, or "" if the word is no name.
func folded(w customsql.Word) string {
	switch {
	case w.Quoted && strings.HasPrefix(w.Text, `"`):
		return strings.Trim(w.Text, `"`)
	case !w.Quoted && w.Text != "" && (w.Text[0] >= 'A' && w.Text[0] <= 'Z' || w.Text[0] >= 0x80):
		return w.Text
	}
	return ""
}

// userBlock reports whether a text is PL/SQL, in which a semicolon does not end the text.
func userBlock(words []customsql.Word) bool {
	kind, _ := created(words)
	return userAt(words, 0).Is("BEGIN", "DECLARE") || slices.Contains([]string{"PROCEDURE", "FUNCTION", "PACKAGE"}, kind)
}

// Adapt turns a statement into what the server is given.
func (o userNames) Adapt(text string, setup bool) (string, error) {
	tokens := o.Plain().Tokens(text)
	words := o.Plain().Words(text)
	var before customsql.Word
	for i, t := range tokens {
		if t.Gap {
			continue
		}
		if name := o.in[folded(t.Word)]; name != "" {
			if before.Is(".") {
				return "", filewise.Errorf(filewise.CodeUsage, "give one of them another name, or leave out what stands before the dot",
					"%s is the name of a table or another object of the set-up, and here of a column, or of an object elsewhere", t.Raw)
			}
			tokens[i].Raw = `"` + name + `"`
		}
		before = t.Word
	}
	if setup {
		tokens = o.place(tokens, words)
	}
	if end := codeEnd(tokens); userBlock(words) && end > 0 && !tokens[end-1].Is(";") {
		tokens = slices.Insert(tokens, end, customsql.Token{Raw: ";", Gap: true})
	}
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(t.Raw)
	}
	text = b.String()
	if setup || !userBlock(words) {
		return text, nil
	}
	// The driver does not treat NO_DATA_FOUND as an error: see driver_test.go.
	const handler = "EXCEPTION\n  WHEN NO_DATA_FOUND THEN\n    RAISE_APPLICATION_ERROR(-20010, 'NO_DATA_FOUND was not handled');\n"
	return "BEGIN\n" + text + "\n" + handler + "END;", nil
}

// place puts tables and indexes into the build's tablespaces, not into the account's default, and keeps dropped tables
// out of the recycle bin.
func (o userNames) place(tokens []customsql.Token, words []customsql.Word) []customsql.Token {
	kind, _ := created(words)
	has := func(words ...string) bool {
		return slices.ContainsFunc(tokens, func(t customsql.Token) bool { return t.Is(words...) })
	}
	add := func(i int, text string) {
		tokens = slices.Insert(tokens, i, customsql.Token{Raw: text, Gap: true})
	}
	keysEnd := 0
	switch {
	case kind == "INDEX" && !has("TABLESPACE"):
		add(codeEnd(tokens), ` TABLESPACE "`+o.index+`"`)
	case kind == "TABLE":
		columns := columnsEnd(tokens)
		if keysEnd = columns; !has("TABLESPACE") {
			add(columns, ` TABLESPACE "`+o.data+`" `)
		}
	case userAt(words, 0).Is("DROP") && userAt(words, 1).Is("TABLE") && !has("PURGE"):
		add(codeEnd(tokens), " PURGE")
	case userAt(words, 0).Is("ALTER") && userAt(words, 1).Is("TABLE"):
		keysEnd = len(tokens)
	}
	for i := keysEnd - 1; i >= 0; i-- { // from the end, so that earlier positions stay valid
		if end, using := o.keyEnd(tokens, i); end > 0 && !(tokens[i].Is("PRIMARY") && has("ORGANIZATION") && !has("HEAP")) {
			text := ` TABLESPACE "` + o.index + `"`
			if !using {
				text = " USING INDEX" + text
			}
			add(end, text)
		}
	}
	return tokens
}

// columnsEnd returns where the attributes of a table's segment begin. That is after its columns or ORGANIZATION clause,
// and before its partitions and AS SELECT.
func columnsEnd(tokens []customsql.Token) int {
	depth, end := 0, 0
	for i, t := range tokens {
		switch {
		case t.Is("("):
			depth++
		case t.Is(")"):
			if depth--; depth == 0 && end == 0 {
				end = i + 1
			}
		case depth > 0 || t.Gap:
		case t.Is("AS", "PARTITION") && end == 0:
			return i
		case t.Is("ORGANIZATION"):
			end = min(userCode(tokens, i)+1, len(tokens))
		}
	}
	if end == 0 {
		return codeEnd(tokens)
	}
	return end
}

// codeEnd returns where the last code of a text ends, before a trailing comment that would swallow an addition.
func codeEnd(tokens []customsql.Token) int {
	end := len(tokens)
	for end > 0 && tokens[end-1].Gap {
		end--
	}
	return end
}

// userCode returns the position of the next token after i that is neither space nor a comment.
func userCode(tokens []customsql.Token, i int) int {
	for i++; i < len(tokens) && tokens[i].Gap; {
		i++
	}
	return i
}

// keyEnd returns the position at which the index of a key, which begins at i, is named. using is true if the user gives
// the index. end is 0 if no key begins at i, or if the key's index exists already.
func (o userNames) keyEnd(tokens []customsql.Token, i int) (end int, using bool) {
	is := func(i int, words ...string) bool { return i < len(tokens) && tokens[i].Is(words...) }
	next := func(i int) int { return userCode(tokens, i) }
	before := codeEnd(tokens[:i]) - 1
	switch {
	case before >= 0 && is(before, "DROP", "MODIFY", "DISABLE"), is(next(i), "KEYS"):
		return 0, false
	case is(i, "PRIMARY") && is(next(i), "KEY"):
		i = next(i)
	case !is(i, "UNIQUE"):
		return 0, false
	}
	end = i + 1
	if is(next(i), "(") {
		for i = next(i); i < len(tokens) && !is(i, ")"); {
			i++
		}
		end = i + 1
	}
	if !is(next(i), "USING") {
		return min(end, len(tokens)), false
	}
	i = next(next(i)) // INDEX
	if of := next(i); is(of, "TABLESPACE", "(") || of < len(tokens) && o.in[folded(tokens[of].Word)] != "" {
		return 0, true
	}
	return min(i+1, len(tokens)), true
}
