package customsql

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/internal/script"
	"filewise/internal/nearest"
)

// Statement is a statement that is ready for an engine.
type Statement struct {
	Text  string
	Place string // position in the user's file
	// Section is the statement's section; "" is the set-up.
	Section string
	// Order lists the indexes of the arguments for its parameters, in the order of the parameters.
	Order []int
	// Spread lists the tables that the statement puts into the layout's files.
	Spread []string
	// Chance is true if the statement's values are not the same each time.
	Chance bool
}

// Reads reports whether the statement only reads.
func (s Statement) Reads() bool {
	return strings.HasPrefix(strings.ToUpper(strings.TrimSpace(s.Text)), "SELECT")
}

// Values appends the statement's values, taken from its section's arguments, to dst.
func (s Statement) Values(dst, args []any) []any {
	for _, at := range s.Order {
		dst = append(dst, args[at])
	}
	return dst
}

// Section prepares the statements of a section.
func (r Rules) Section(custom *filewise.CustomSQL, name string) ([]Statement, error) {
	section, ok := custom.Sections[name]
	if !ok {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "section %q: %w", name, filewise.ErrUnsupported)
	}
	var all []Statement
	for _, text := range section.Texts {
		some, err := r.divide(text, text.Text, section.Params, true)
		if err != nil {
			return nil, err
		}
		for _, s := range some {
			if err := r.refuse(s, false); err != nil {
				return nil, err
			}
			s.Chance, s.Section = r.chance(s, section), name
			if s.Text, err = r.adapted(s, false); err != nil {
				return nil, err
			}
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return nil, filewise.Errorf(filewise.CodeUsage, "write a statement there", "%s: there is no statement", section.Texts[0].Place(0))
	}
	return all, nil
}

// chanceful lists words whose presence shows that a statement's values can vary: by chance, by the clock, or by what
// other connections did.
var chanceful = []string{"RAND", "UUID", "GUID", "NOW", "CLOCK", "TIME", "DATE(", "SELECT", "CALL"}

// chance reports whether a statement of a section can have other values if the same part of the work is executed again.
func (r Rules) chance(s Statement, section filewise.CustomSection) bool {
	drawn := func(at int) bool { return slices.Contains(section.Drawn, section.Params[at]) }
	code := strings.ToUpper(s.Text)
	return slices.ContainsFunc(s.Order, drawn) || slices.ContainsFunc(chanceful, func(f string) bool { return strings.Contains(code, f) })
}

// Query prepares a section that consists of one statement.
func (r Rules) Query(custom *filewise.CustomSQL, name string) (Statement, error) {
	all, err := r.Section(custom, name)
	if err != nil {
		return Statement{}, err
	}
	if len(all) != 1 {
		return Statement{}, filewise.Errorf(filewise.CodeUsage, "divide them into several", "%s: a check is one query, not %d", all[0].Place,
			len(all))
	}
	return all[0], nil
}

// Checks returns the queries of the workload's checks, in their order.
func (r Rules) Checks(custom *filewise.CustomSQL) ([]Statement, error) {
	var all []Statement
	for n := 1; ; n++ {
		name := fmt.Sprintf("check-%d", n)
		if _, ok := custom.Sections[name]; !ok {
			return all, nil
		}
		q, err := r.Query(custom, name)
		if err != nil {
			return nil, err
		}
		all = append(all, q)
	}
}

// Place is a layout's text for {{spread "TABLE"}}.
type Place struct {
	Clause string   // replaces the placeholder
	After  []string // statements that follow
}

// Site describes where a set-up is executed.
type Site struct {
	// Shard is the number of the file, among Shards files that are separate databases. If files are not, it is 0 of 1.
	Shard, Shards int
	// Spread maps the workload's tables to their places.
	Spread map[string]Place
}

// spreadMark is a placeholder for a table's place until its statement is known.
const spreadMark = "\x01spread\x02"

// Setup prepares the set-up for a site. It refuses a table of the workload that the set-up does not place, because the
// layout would not be real.
func (r Rules) Setup(custom *filewise.CustomSQL, site Site) ([]Statement, error) {
	var all []Statement
	placed := map[string]bool{}
	if custom.From != "" {
		return nil, filewise.Errorf(filewise.CodeUsage, "give a set-up in the study file instead of --from",
			"a dump is not restored on this engine: %w", filewise.ErrUnsupported)
	}
	for _, text := range custom.Setup {
		rendered, err := render(custom, text, site)
		if err != nil {
			return nil, err
		}
		some, err := r.divide(text, rendered, nil, false)
		if err != nil {
			return nil, err
		}
		for _, s := range some {
			if err := r.refuse(s, true); err != nil {
				return nil, err
			}
			for _, x := range put(s, custom, site, placed) {
				if x.Text, err = r.adapted(x, true); err != nil {
					return nil, err
				}
				all = append(all, x)
			}
		}
	}
	for _, t := range custom.Tables {
		if !placed[t.Name] {
			return nil, filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("end its CREATE TABLE by {{spread %q}}, take it out of tables, or fill the "+
				"builds from a dump of its database (--from), where the engine restores one", t.Name),
				"custom: the set-up does not say where the layout puts table %s", t.Name)
		}
	}
	return all, nil
}

func (r Rules) adapted(s Statement, setup bool) (string, error) {
	if r.Adapt == nil {
		return s.Text, nil
	}
	text, err := r.Adapt(s.Text, setup)
	if err != nil {
		err = fmt.Errorf("%s: %w", s.Place, err)
	}
	return text, err
}

// put replaces the marks in a statement by the layout's text.
func put(s Statement, custom *filewise.CustomSQL, site Site, placed map[string]bool) []Statement {
	var after []Statement
	for _, t := range custom.Tables {
		mark := spreadMark + t.Name + "\x02"
		if !strings.Contains(s.Text, mark) {
			continue
		}
		placed[t.Name] = true
		place := site.Spread[t.Name]
		s.Text = strings.TrimSpace(strings.ReplaceAll(s.Text, mark, place.Clause))
		s.Spread = append(s.Spread, t.Name)
		for _, text := range place.After {
			after = append(after, Statement{Text: text, Place: s.Place})
		}
	}
	return append([]Statement{s}, after...)
}

// placeholder matches the only placeholders that a set-up can use. A template would be a program.
var placeholder = regexp.MustCompile(`\{\{\s*(?:(\.Shards?)|spread\s+(?:"([^"]*)"|` + "`([^`]*)`" + `))\s*\}\}|\{\{`)

// render replaces a set-up's placeholders.
func render(custom *filewise.CustomSQL, text filewise.CustomText, site Site) (string, error) {
	var errs []error
	rendered := placeholder.ReplaceAllStringFunc(text.Text, func(found string) string {
		m := placeholder.FindStringSubmatch(found)
		table := m[2] + m[3]
		switch {
		case m[1] == ".Shard":
			return strconv.Itoa(site.Shard)
		case m[1] == ".Shards":
			return strconv.Itoa(site.Shards)
		case table == "":
			errs = append(errs, errors.New("what follows {{ is unknown"))
		case !slices.ContainsFunc(custom.Tables, func(t filewise.CustomTable) bool { return t.Name == table }):
			known := filewise.Each(custom.Tables, func(t filewise.CustomTable) string { return t.Name })
			errs = append(errs, fmt.Errorf("custom has no table %q in tables (%s)", table, nearest.Remedy(table, known)))
		}
		return spreadMark + table + "\x02"
	})
	if len(errs) > 0 {
		return "", filewise.Errorf(filewise.CodeUsage, `what a set-up may hold is {{spread "TABLE"}}, {{.Shard}} and {{.Shards}}`,
			"%s: set-up: %w", text.Place(0), errs[0])
	}
	return rendered, nil
}

// divide makes statements of a text, with the engine's parameters if it has
// some.
func (r Rules) divide(of filewise.CustomText, text string, params []string, replace bool) ([]Statement, error) {
	var all []Statement
	var b strings.Builder
	s, begun := Statement{}, false
	finish := func() {
		if begun {
			s.Text = strings.TrimSpace(b.String())
			all = append(all, s)
		}
		b.Reset()
		s, begun = Statement{}, false
	}
	for _, p := range r.scan(text) {
		switch {
		case p.kind == pieceEnd && !of.Whole:
			finish()
			continue
		case p.kind == pieceParam && replace:
			at := slices.Index(params, p.text)
			if at < 0 {
				return nil, filewise.Errorf(filewise.CodeUsage, nearest.Remedy(p.text, params)+"; parameters stand under custom.parameters",
					"%s: parameter :%s is unknown", of.Place(p.line), p.text)
			}
			b.WriteString(r.parameter(&s, at))
		case p.kind == pieceParam:
			b.WriteString(":" + p.text)
		default:
			b.WriteString(p.text)
		}
		if !begun && p.kind != pieceNote && strings.TrimSpace(p.text) != "" {
			begun = true
			lead := p.text[:len(p.text)-len(strings.TrimLeft(p.text, " \t\r\n"))]
			s.Place = of.Place(p.line + strings.Count(lead, "\n"))
		}
	}
	finish()
	if of.Whole && len(all) == 1 {
		all[0].Text = strings.TrimRight(all[0].Text, "; \t\r\n")
	}
	return all, nil
}

// parameter returns the placeholder of an argument.
func (r Rules) parameter(s *Statement, at int) string {
	if r.Numbered == "" {
		s.Order = append(s.Order, at)
		return "?"
	}
	n := slices.Index(s.Order, at)
	if n < 0 || r.Each {
		s.Order, n = append(s.Order, at), len(s.Order)
	}
	return r.Numbered + strconv.Itoa(n+1)
}

// Marked returns the text after a comment with its place, so that a server's error names the place.
func (s Statement) Marked() string {
	return "/* " + strings.ReplaceAll(s.Place, "*/", "") + " */ " + s.Text
}

// Texts returns the set-up's statements for a site, each with its place.
func (r Rules) Texts(custom *filewise.CustomSQL, site Site) (texts []string, err error) {
	all, err := r.Setup(custom, site)
	for _, x := range all {
		texts = append(texts, x.Marked())
	}
	return texts, err
}

// Write adds the transactions and checks of a program to the steps of a plan. A transaction of
// several statements comes after begin, unless begin is empty, and before commit.
func (r Rules) Write(w *script.Writer, on string, p filewise.Program, begin, commit string) {
	add := func(stage, text string) { w.Rendered(stage, on, "custom", []string{text}, nil) }
	for _, name := range p.Phases[0].Sections {
		all, err := r.Section(p.Custom, name)
		w.AddAll("", on, nil, err)
		if len(all) > 1 && begin != "" {
			add(filewise.StageMeasure, begin)
		}
		for _, s := range all {
			add(filewise.StageMeasure, s.Text)
		}
		if len(all) > 1 {
			add(filewise.StageMeasure, commit)
		}
	}
	checks, err := r.Checks(p.Custom)
	w.AddAll("", on, nil, err)
	for _, q := range checks {
		add(filewise.StageCheck, q.Text)
	}
}
