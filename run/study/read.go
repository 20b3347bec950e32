package study

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The limits of a study file. No real study comes near them; a file that grows by references to itself is stopped
// there.
const (
	maxBytes = 256 << 10
	maxNodes = 50_000
	maxDepth = 40
)

// kind is the kind of a node.
type kind string

const (
	kindText    kind = "text"
	kindWhole   kind = "a whole number"
	kindNumber  kind = "a number"
	kindSwitch  kind = "true or false"
	kindNothing kind = "nothing"
	kindList    kind = "a list"
	kindMapping kind = "a mapping"
)

// node is a part of a file with anchors resolved.
type node struct {
	kind   kind
	text   string // of a scalar, as written
	place  Place
	block  bool // the text begins in the next line (|, >)
	fields []field
	items  []*node
}

// field is a key of a mapping and its value.
type field struct {
	name  string
	place Place
	value *node
}

// field returns the value of a key, or nil if it is not given.
func (n *node) field(name string) *node {
	if n == nil {
		return nil
	}
	for _, f := range n.fields {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

// reader turns what the YAML library reads into nodes.
type reader struct {
	source
	anchors map[string]ast.Node
	nodes   int
}

// read parses a file, which must be one document with a mapping.
func read(s source, text []byte) (_ *node, err error) {
	if len(text) > maxBytes {
		return nil, s.wrong(Place{1, 1}, "put scripts into separate files (setup: {file: …})",
			"%d bytes are more than the %d that a study file may have", len(text), maxBytes)
	}
	if line := tooDeep(text); line > 0 { // the library's time grows with the square of the depth
		return nil, s.wrong(Place{line, 1}, "check for brackets that are not closed",
			"lists or mappings are nested more than %d deep", maxDepth)
	}
	defer func() {
		if r := recover(); r != nil { // a bug of the library, on a file that is not YAML
			err = s.wrong(Place{1, 1}, "check for unusual syntax", "this is no YAML that can be read (%v)", r)
		}
	}()
	file, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey()) // mapping refuses duplicates, and names both places
	if err != nil {
		return nil, syntax(s, err)
	}
	var body ast.Node
	for _, d := range file.Docs {
		if d == nil || d.Body == nil {
			continue
		}
		if body != nil {
			return nil, s.wrong(placeOf(d.Body), "list several experiments under experiments:, or split the file",
				"a second document begins here; a study file has one")
		}
		body = d.Body
	}
	empty := s.wrong(Place{1, 1}, `"filewise init" writes an example`, "there is nothing in the file")
	if body == nil {
		return nil, empty
	}
	r := &reader{source: s, anchors: map[string]ast.Node{}}
	n, err := r.node(body, 0)
	if err == nil && n.kind == kindNothing {
		err = empty
	}
	return n, err
}

// tooDeep returns the first line in which brackets, or dashes and keys of one line, are nested too deeply. 0 means
// there is none. Brackets in texts count too, but no real study has that many unclosed ones.
func tooDeep(text []byte) int {
	depth := 0
	for i, line := range bytes.Split(text, []byte("\n")) {
		inLine := 0
		for word := range bytes.FieldsSeq(line) {
			if len(word) != 1 || !bytes.ContainsAny(word, "-?:") {
				break
			}
			inLine++
		}
		for _, b := range line {
			switch b {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(depth-1, 0)
			}
			if depth+inLine > 2*maxDepth {
				return i + 1
			}
		}
	}
	return 0
}

// syntax turns the library's error into a usage error with its place.
func syntax(s source, err error) error {
	var e yaml.Error
	if errors.As(err, &e) && e.GetToken() != nil && e.GetToken().Position != nil {
		p := e.GetToken().Position
		return s.wrong(Place{p.Line, p.Column}, "indent by spaces, and quote text that holds : or #", "%s", firstLine(e.GetMessage()))
	}
	return s.wrong(Place{1, 1}, "indent by spaces, and quote text that holds : or #", "%s", firstLine(err.Error()))
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func placeOf(n ast.Node) Place {
	if m, ok := n.(*ast.MappingValueNode); ok {
		return placeOf(m.Key)
	}
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		return placeOf(m.Values[0].Key)
	}
	return placeOfToken(n.GetToken())
}

func placeOfToken(t *token.Token) Place {
	if t == nil || t.Position == nil {
		return Place{1, 1}
	}
	return Place{t.Position.Line, t.Position.Column}
}

// node resolves one node. Each repetition by an alias counts, so that a file cannot grow without end.
func (r *reader) node(n ast.Node, depth int) (*node, error) {
	r.nodes++
	if n == nil {
		return &node{kind: kindNothing, place: Place{1, 1}}, nil
	}
	at := placeOf(n)
	if r.nodes > maxNodes || depth > maxDepth {
		return nil, r.wrong(at, "write it with fewer aliases (*) and less nesting", "the file comes to more than %d values or %d levels",
			maxNodes, maxDepth)
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return r.mapping(at, n.Values, depth)
	case *ast.MappingValueNode:
		return r.mapping(at, []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		return r.list(at, n, depth)
	case *ast.AnchorNode:
		name := n.Name.GetToken().Value
		out, err := r.node(n.Value, depth+1)
		r.anchors[name] = n.Value // set from here on, so an anchor that contains itself is unknown
		return out, err
	case *ast.AliasNode:
		name := n.Value.GetToken().Value
		of, ok := r.anchors[name]
		if !ok {
			return nil, r.wrong(at, "define it above as &"+name, "the alias *%s stands for nothing", name)
		}
		return r.node(of, depth+1)
	case *ast.TagNode:
		return nil, r.wrong(at, "leave it out; quote what is to be text", "the tag %s is not understood", n.GetToken().Value)
	}
	return r.scalar(at, n)
}

func (r *reader) scalar(at Place, n ast.Node) (*node, error) {
	out := &node{place: at}
	switch n := n.(type) {
	case *ast.StringNode:
		out.kind, out.text = kindText, n.Value
	case *ast.LiteralNode:
		out.kind, out.text, out.block = kindText, n.Value.Value, true
	case *ast.IntegerNode:
		out.kind, out.text = kindWhole, fmt.Sprint(n.Value)
	case *ast.FloatNode:
		out.kind, out.text = kindNumber, n.GetToken().Value
	case *ast.BoolNode:
		out.kind, out.text = kindSwitch, fmt.Sprint(n.Value)
	case *ast.NullNode:
		out.kind = kindNothing
	default:
		return nil, r.wrong(at, "give a number, a text, a list or a mapping", "%s is not understood here", firstLine(n.String()))
	}
	return out, nil
}

func (r *reader) list(at Place, n *ast.SequenceNode, depth int) (*node, error) {
	out := &node{kind: kindList, place: at}
	for _, v := range n.Values {
		item, err := r.node(v, depth+1)
		if err != nil {
			return nil, err
		}
		out.items = append(out.items, item)
	}
	return out, nil
}

// mapping reads the keys, each at most once. Merged fields (<<) come after the given ones.
func (r *reader) mapping(at Place, values []*ast.MappingValueNode, depth int) (*node, error) {
	out := &node{kind: kindMapping, place: at}
	var merged []field
	known := map[string]bool{}
	for _, v := range values {
		value, err := r.node(v.Value, depth+1)
		if err != nil {
			return nil, err
		}
		key := placeOfToken(v.Key.GetToken())
		if value.kind == kindNothing {
			value.place = key
		}
		if v.Key.IsMergeKey() {
			more, err := r.merge(key, value)
			if err != nil {
				return nil, err
			}
			merged = append(merged, more...)
			continue
		}
		name := v.Key.GetToken().Value
		if s, ok := v.Key.(*ast.StringNode); ok {
			name = s.Value
		}
		if known[name] {
			return nil, r.wrong(key, "give each key once", "%s is given twice", name)
		}
		known[name] = true
		out.fields = append(out.fields, field{name, key, value})
	}
	for _, f := range merged {
		if !known[f.name] {
			known[f.name] = true
			out.fields = append(out.fields, f)
		}
	}
	return out, nil
}

// merge returns the fields of one mapping, or of several, of which earlier ones take precedence.
func (r *reader) merge(at Place, value *node) ([]field, error) {
	switch value.kind {
	case kindMapping:
		return value.fields, nil
	case kindList:
		var all []field
		for _, item := range value.items {
			more, err := r.merge(at, item)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
		return all, nil
	}
	return nil, r.wrong(at, "give it as <<: *NAME", "<< merges mappings, not %s", value.kind)
}
