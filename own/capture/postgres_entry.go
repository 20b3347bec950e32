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
type entry struct{ database, session, tag, message, detail, at, context string }

// cloudLine matches a line of stderr in the form in which Cloud SQL passes it on.
var cloudLine = regexp.MustCompile(`(?s)^\[(\d+)\]: \[[\d-]+\] .*?\bdb=([^, ]*).*? (?:LOG|\p{Lu}+): +(.*)$`)

// flatEntry reads a line in PostgreSQL's own form, one object of texts and numbers. It takes a third of the time of
// entryOf. ok is false if the line has another form.
func flatEntry(text string) (e entry, ok bool) {
	text, ok = strings.CutPrefix(strings.TrimSpace(text), "{")
	for ok {
		var name, value string
		if name, text, ok = quotedJSON(text); !ok || !strings.HasPrefix(text, ":") {
			return e, false
		}
		to := e.field(name)
		switch text = text[1:]; {
		case name == "textPayload", to != nil && !strings.HasPrefix(text, `"`):
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
			return e, ok
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

// entryOf reads a line of jsonlog, also if an operator or a cloud has wrapped it.
func entryOf(text []byte) (entry, error) {
	var line struct {
		Dbname, Session_id, Ps, Message, Detail, TextPayload, Timestamp, Context string
		Record                                                                   struct {
			Database_name, Session_id, Command_tag, Message, Detail, Log_time, Context string
		}
	}
	if err := json.Unmarshal(text, &line); err != nil {
		// CloudNativePG's own lines may have a record of another form.
		var any map[string]json.RawMessage
		return entry{}, json.Unmarshal(text, &any)
	}
	if m := cloudLine.FindStringSubmatch(line.TextPayload); m != nil {
		return entry{database: m[2], session: m[1], message: m[3], at: line.Timestamp}, nil
	}
	of := line.Record
	return entry{cmp.Or(line.Dbname, of.Database_name), cmp.Or(line.Session_id, of.Session_id), cmp.Or(line.Ps, of.Command_tag),
		cmp.Or(line.Message, of.Message), cmp.Or(line.Detail, of.Detail), cmp.Or(line.Timestamp, of.Log_time),
		cmp.Or(line.Context, of.Context)}, nil
}

// postgresLog holds the state of reading one log of PostgreSQL.
type postgresLog struct {
	database string
	each     func(filewise.LoggedStatement)
	seen     customsql.Seen
	plans    map[string]filewise.LoggedStatement // of auto_explain, by session; log_min_duration_statement may log the same statement
	prepared map[[2]string]string                // by session and name of the statement
	gaps     int                                 // places that could not be read
}

var (
	others = regexp.MustCompile(`^(?:duration|statement|execute|connection|disconnection|automatic|process|temporary file)\b`)
	// foreign matches the same message in another language. It is used only if the tag does not distinguish execution from
	// parsing and binding.
	foreign = regexp.MustCompile(`(?s)^[^:\x{ff1a}\n"]{2,40}[:\x{ff1a}]\s*([0-9.]+) ms[,\x{ff0c}]?\s+[^:\x{ff1a}\n]{2,100}[:\x{ff1a}]\s?(.*)$`)
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

// declared returns the query of the cursor that a statement declaring, or "" if it declaring none.
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
// log_min_duration_statement, also for prepared statements. Messages of other kinds must be in English.
func loggedText(message string) (ms, text string, ok bool) {
	if of, is := strings.CutPrefix(message, "duration: "); is {
		if ms, message, is = strings.Cut(of, " ms  "); !is || strings.Trim(ms, "0123456789.") != "" {
			return "", "", false
		}
	}
	if text, ok = strings.CutPrefix(message, "statement: "); ok {
		return ms, text, true
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
	var m []string
	if !others.MatchString(e.message) && e.tag != "PARSE" && e.tag != "BIND" {
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

func (l *postgresLog) take(e entry) {
	l.seen.Lines++
	text, seconds, plan, ok := statementOf(&e)
	if ok {
		l.seen.Add(e.database)
	}
	if e.database != l.database || plan && e.context != "" { // within a function; the function's call has its own plan
		return
	}
	s := filewise.LoggedStatement{Session: e.session, Text: text, Seconds: seconds, Ended: customsql.Moment(e.at)}
	if !ok {
		if !others.MatchString(e.message) || planned.MatchString(e.message) {
			if l.seen.Unknown++; l.seen.Example == "" {
				l.seen.Example = e.message
			}
		}
		return
	}
	s.Arguments = arguments(e.detail)
	before, had := l.plans[e.session]
	if delete(l.plans, e.session); had && (plan || !strings.Contains(text, strings.TrimRight(before.Text, "; \n"))) {
		l.each(before)
	}
	if plan {
		l.plans[e.session] = s
		return
	}
	word := strings.TrimLeft(text, " \t\r\n\f")
	word = strings.ToUpper(word[:min(len(word), len("PREPARE"))])
	switch word {
	case "PREPARE":
		if m := preparing.FindStringSubmatch(text); m != nil {
			l.prepared[[2]string{e.session, m[1]}] = m[2]
		}
	case "EXECUTE":
		if m := executing.FindStringSubmatch(text); m != nil {
			s.Text = cmp.Or(l.prepared[[2]string{e.session, m[1]}], text)
			if of := preparing.FindStringSubmatch(strings.TrimPrefix(e.detail, "prepare: ")); of != nil {
				s.Text = of[2]
			}
			s.Arguments = argumentsOf(m[2])
		}
	case "DECLARE":
		s.Text = cmp.Or(declared(text), text)
	}
	l.each(s)
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

// end reports the plans that no other entry followed.
func (l *postgresLog) end() {
	for _, session := range slices.Sorted(maps.Keys(l.plans)) {
		l.each(l.plans[session])
	}
	for n := 0; n < l.gaps && l.seen.Told(); n++ {
		l.each(filewise.LoggedStatement{Session: "damaged", Text: filewise.Unreadable})
	}
}
