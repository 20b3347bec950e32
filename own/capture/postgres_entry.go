package capture

import (
	"cmp"
	"encoding/json"
	"html"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"filewise"
	"filewise/engine/customsql"
)

// entry is one record of a log.
type entry struct {
	database, session, tag, message, detail, at, context, severity string
	// text is set for lines of text: they have no tag. earlier is set if they name no database.
	text, earlier bool
}

// flatEntry reads a line in PostgreSQL's own form, one object of texts and numbers. It takes a third of the time of
// recordOf. ok is false if the line has another form.
func flatEntry(text string) (e entry, ok bool) {
	text, ok = strings.CutPrefix(strings.TrimSpace(text), "{")
	for ok {
		var name, value string
		if name, text, ok = quotedJSON(text); !ok || !strings.HasPrefix(text, ":") {
			return e, false
		}
		to := e.field(name)
		switch text = text[1:]; {
		case shipping[name], to != nil && !strings.HasPrefix(text, `"`):
			return e, false
		case strings.HasPrefix(text, `"`):
			value, text, ok = quotedJSON(text)
		default:
			n := strings.IndexAny(text, `,}[{"`)
			if n <= 0 {
				return e, false
			}
			text = text[n:]
		}
		if to != nil {
			*to = value
		}
		if text == "}" {
			return e, ok && e.session+e.database != ""
		}
		if text, ok = strings.CutPrefix(text, ","); !ok {
			return e, false
		}
	}
	return e, false
}

// field returns the entry's field of a name, or nil if there is none.
func (e *entry) field(name string) *string {
	switch name {
	case "dbname":
		return &e.database
	case "session_id":
		return &e.session
	case "ps":
		return &e.tag
	case "message":
		return &e.message
	case "detail":
		return &e.detail
	case "timestamp":
		return &e.at
	case "error_severity":
		return &e.severity
	}
	return nil
}

// quotedJSON reads the JSON string at the beginning of text.
func quotedJSON(text string) (value, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", "", false
	}
	end, escaped := 1, false
	for ; end < len(text) && text[end] != '"'; end++ {
		if text[end] == '\\' {
			escaped = true
			end++
		}
	}
	if end >= len(text) {
		return "", "", false
	}
	if value = text[1:end]; escaped || !utf8.ValidString(value) {
		ok = json.Unmarshal([]byte(text[:end+1]), &value) == nil
		return value, text[end+1:], ok
	}
	return value, text[end+1:], true
}

// recordOf reads a record of jsonlog, also if an operator or a cloud has wrapped it.
func (l *textLog) recordOf(raw []byte, take func(entry)) error {
	w, err := unwrapped(raw)
	if err != nil {
		return err
	}
	for _, inner := range w.records() {
		if err := l.recordOf(inner, take); err != nil {
			return err
		}
	}
	of := w.Record
	e := entry{database: string(cmp.Or(w.Dbname, of.Database_name)), session: string(cmp.Or(w.Session_id, of.Session_id)),
		tag: string(cmp.Or(w.Ps, of.Command_tag)), message: string(cmp.Or(w.Message, of.Message)), detail: string(cmp.Or(w.Detail, of.Detail)),
		at: string(cmp.Or(w.Timestamp, of.Log_time)), context: string(cmp.Or(w.Context, of.Context)),
		severity: string(cmp.Or(w.Error_severity, of.Error_severity))}
	if text := w.text(); text != "" && e.database == "" {
		l.lines(text, string(cmp.Or(w.Properties.Timestamp, w.Timestamp)))
		l.lines(string(w.after()), "")
		return nil
	}
	take(e)
	return nil
}

// postgresLog holds the state of reading one log of PostgreSQL.
type postgresLog struct {
	database string
	each     func(filewise.LoggedStatement)
	seen     customsql.Seen
	held     map[string]held      // by session, the last statement, which another record may complete
	prepared map[[2]string]string // by session and name of the statement
	gaps     int                  // places that could not be read
	order    order
}

var (
	others = regexp.MustCompile(`^(?:duration|statement|execute|connection|disconnection|automatic|process|temporary file|AUDIT)\b`)
	// foreign matches the same message in a language that inEnglish leaves as it is. It is used only if a tag distinguishes
	// execution from parsing and binding.
	foreign = regexp.MustCompile(`(?s)^[^:\x{ff1a}\n"]{2,40}[:\x{ff1a}]\s*([0-9.]+) ms[,\x{ff0c}]?\s+[^:\x{ff1a}\n]{2,100}[:\x{ff1a}]\s?(.*)$`)
	lasted  = regexp.MustCompile(`^duration: ([0-9.]+) ms$`)
	planned = regexp.MustCompile(`(?s)^duration: ([0-9.]+) ms  plan:\n(.*)$`)
	// planText matches what auto_explain reports of a statement, up to the plan.
	planText  = regexp.MustCompile(`(?s)^Query Text: (.*?)\n(?:Query Parameters: ([^\n]*)\n)?[^\n]*  \(cost=[0-9.]+\.\.`)
	planXML   = regexp.MustCompile(`(?s)<Query-Text>(.*?)</Query-Text>\s*(?:<Query-Parameters>(.*?)</Query-Parameters>)?`)
	planYAML  = regexp.MustCompile(`(?s)^Query Text: ("(?:[^"\\]|\\.)*")\n(?:Query Parameters: ("(?:[^"\\]|\\.)*")\n)?`)
	preparing = regexp.MustCompile(`(?is)^\s*PREPARE\s+("[^"]+"|\w+)\s*(?:\([^)]*\))?\s+AS\s+(.*)$`)
	declaring = regexp.MustCompile(`(?is)^\s*DECLARE\s+(?:"[^"]+"|\w+)\s[^;]*?\bCURSOR\b.*?\bFOR\s+(.*)$`)
	executing = regexp.MustCompile(`(?is)^\s*EXECUTE\s+("[^"]+"|\w+)\s*(?:\((.*)\))?[\s;]*$`)
	literal   = regexp.MustCompile(`(?s)^\s*(?:('(?:[^']|'')*'|-?[0-9.]+|NULL|true|false)\s*)(?:::[\w ]+)?(?:,|$)`)
)

// declared returns the query of the cursor that a statement declares, or "" if it declares none.
func declared(text string) string {
	if m := declaring.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// plannedText reads the statement and its parameters from a message of auto_explain in any format. It returns "" if
// there is no statement.
func plannedText(plan string) (text, parameters string) {
	var form struct {
		Text       string `json:"Query Text"`
		Parameters string `json:"Query Parameters"`
	}
	if m := planText.FindStringSubmatch(plan); m != nil {
		return m[1], m[2]
	}
	if m := planXML.FindStringSubmatch(plan); m != nil {
		return html.UnescapeString(m[1]), html.UnescapeString(m[2])
	}
	if m := planYAML.FindStringSubmatch(plan); m != nil { // its strings are JSON strings
		_ = json.Unmarshal([]byte(m[1]), &form.Text)
		_ = json.Unmarshal([]byte(m[2]), &form.Parameters)
	} else {
		_ = json.Unmarshal([]byte(plan), &form)
	}
	return form.Text, form.Parameters
}

// loggedText returns the statement in a message, and its time in ms if reported. It reads messages of log_statement and
// log_min_duration_statement, also for prepared statements.
func loggedText(message string) (ms, text string, ok bool) {
	if of, is := strings.CutPrefix(message, "duration: "); is {
		if ms, message, is = strings.Cut(of, " ms  "); !is || strings.Trim(ms, "0123456789.") != "" {
			return "", "", false
		}
	}
	if text, ok = strings.CutPrefix(message, "statement: "); ok {
		return ms, text, true
	}
	if strings.HasPrefix(message, "execute fetch from ") { // more rows of a statement that was logged
		return ms, "FETCH", true
	}
	if strings.HasPrefix(message, "execute ") || strings.HasPrefix(message, "fastpath") {
		_, text, ok = strings.Cut(message, ":")
		if ok = ok && strings.HasPrefix(text, " "); ok {
			return ms, text[1:], true
		}
	}
	return "", "", false
}

// arguments returns the values of parameters $1, $2, …, from the detail of an execution.
func arguments(detail string) (all []string) {
	for {
		_, rest, found := strings.Cut(detail, "$"+strconv.Itoa(len(all)+1)+" = ")
		if !found {
			return all
		}
		end := len("NULL")
		if strings.HasPrefix(rest, "'") {
			for end = 1; end < len(rest); end++ {
				if rest[end] != '\'' {
					continue
				}
				if end++; end == len(rest) || rest[end] != '\'' {
					break
				}
			}
		} else if !strings.HasPrefix(rest, "NULL") {
			return all
		}
		all, detail = append(all, rest[:min(end, len(rest))]), rest[min(end, len(rest)):]
	}
}

// statementOf reads the statement from an entry's message; ok is false if there is none. The values of its parameters are
// then in the entry's detail.
func statementOf(e *entry) (text string, seconds float64, plan, ok bool) {
	if took, text, ok := loggedText(e.message); ok {
		ms, _ := strconv.ParseFloat(took, 64) // 0 if there is no time
		return text, ms / 1000, false, true
	}
	if text, values, is := audited(e.message); is {
		e.detail = values
		return text, 0, true, text != ""
	}
	var m []string
	if !e.text && !others.MatchString(e.message) && e.tag != "PARSE" && e.tag != "BIND" {
		m = foreign.FindStringSubmatch(e.message)
	}
	if m == nil {
		if m = planned.FindStringSubmatch(e.message); m == nil {
			return "", 0, false, false
		}
		if m[2], e.detail = plannedText(m[2]); m[2] == "" {
			return "", 0, false, false
		}
		plan = true
	}
	ms, _ := strconv.ParseFloat(m[1], 64) // 0 if there is no time
	return m[2], ms / 1000, plan, true
}

// held is a statement which another record may complete: its time if the server logs that by itself, or, if
// auto_explain or pgaudit has logged it, the same again.
type held struct {
	filewise.LoggedStatement
	plan bool
}

// same reports whether two texts are of one statement.
func same(a, b string) bool {
	a, b = strings.TrimRight(a, "; \n"), strings.TrimRight(b, "; \n")
	return strings.Contains(a, b) || strings.Contains(b, a)
}

// settle passes on the session's last statement if next is another one. It reports whether next was the same.
func (l *postgresLog) settle(next filewise.LoggedStatement, plan bool) (done bool) {
	before, had := l.held[next.Session]
	if !had {
		return false
	}
	again := before.plan != plan && next.Text != "" && same(before.Text, next.Text)
	if again && plan && next.Seconds == 0 { // an audit has less
		return true
	}
	delete(l.held, next.Session)
	switch {
	case again && before.plan: // the record that follows has as much
		return false
	case again && next.Seconds > 0:
		before.Seconds, before.Ended = next.Seconds, next.Ended
	}
	l.each(before.LoggedStatement)
	return again
}

func (l *postgresLog) take(e entry) {
	l.seen.Lines++
	e.message = inEnglish(e.message)
	text, seconds, plan, ok := statementOf(&e)
	if ok {
		l.seen.Add(e.database)
	}
	if levels[e.severity] == failure && e.database == l.database {
		delete(l.held, e.session) // it is the statement that failed
		if l.seen.Reported() {
			l.each(filewise.LoggedStatement{Session: e.session, Failed: true})
		}
		return
	}
	if e.database != l.database || plan && e.context != "" { // within a function; the function's call has its own plan
		return
	}
	s := filewise.LoggedStatement{Session: e.session, Text: text, Seconds: seconds, Ended: customsql.Moment(e.at), Earlier: e.earlier}
	if !ok {
		l.withoutStatement(s, &e)
		return
	}
	s.Arguments = arguments(e.detail)
	l.asExecuted(&s, e.detail)
	if l.settle(s, plan) {
		return
	}
	if plan || seconds == 0 {
		l.held[e.session] = held{s, plan}
		return
	}
	l.each(s)
}

// withoutStatement takes a record that has no statement.
func (l *postgresLog) withoutStatement(s filewise.LoggedStatement, e *entry) {
	if m := lasted.FindStringSubmatch(e.message); m != nil {
		if before, had := l.held[e.session]; had && !before.plan {
			ms, _ := strconv.ParseFloat(m[1], 64) // it is a number
			before.Seconds, before.Ended = ms/1000, s.Ended
			delete(l.held, e.session)
			l.each(before.LoggedStatement)
		}
		return
	}
	if !others.MatchString(e.message) || planned.MatchString(e.message) {
		if l.seen.Unknown++; l.seen.Example == "" {
			l.seen.Example = e.message
		}
	}
}

// asExecuted puts in the place of SQL's own PREPARE, EXECUTE and DECLARE what they execute.
func (l *postgresLog) asExecuted(s *filewise.LoggedStatement, detail string) {
	word := strings.TrimLeft(s.Text, " \t\r\n\f")
	switch word = strings.ToUpper(word[:min(len(word), len("PREPARE"))]); word {
	case "PREPARE":
		if m := preparing.FindStringSubmatch(s.Text); m != nil {
			l.prepared[[2]string{s.Session, m[1]}] = m[2]
		}
	case "EXECUTE":
		if m := executing.FindStringSubmatch(s.Text); m != nil {
			s.Text = cmp.Or(l.prepared[[2]string{s.Session, m[1]}], s.Text)
			if of := preparing.FindStringSubmatch(strings.TrimPrefix(detail, "prepare: ")); of != nil {
				s.Text = of[2]
			}
			s.Arguments = argumentsOf(m[2])
		}
	case "DECLARE":
		s.Text = cmp.Or(declared(s.Text), s.Text)
	}
}

// argumentsOf returns the arguments of an EXECUTE if all are literals, else nil.
func argumentsOf(text string) (all []string) {
	for text != "" {
		m := literal.FindStringSubmatch(text)
		if m == nil {
			return nil
		}
		all, text = append(all, m[1]), text[len(m[0]):]
	}
	return all
}

// end reports the statements that no other entry followed.
func (l *postgresLog) end() {
	for _, session := range slices.Sorted(maps.Keys(l.held)) {
		l.each(l.held[session].LoggedStatement)
	}
	for n := 0; n < l.gaps && l.seen.Reported(); n++ {
		l.each(filewise.LoggedStatement{Session: "damaged", Text: filewise.Unreadable})
	}
}
