package capture

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"filewise"
	"filewise/internal/filesystem"
)

// jsonText is a JSON string. Values of other types read as an empty one: they are not what is looked for.
type jsonText string

func (s *jsonText) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*s = jsonText(text)
	}
	return nil
}

// wrapper is a record of a log in JSON: a server's own, or the form in which a cloud, an operator or a container's engine
// passes one on.
type wrapper struct {
	// A record of jsonlog. An event of CloudWatch has a line of text as its message.
	Dbname, Session_id, Ps, Message, Detail, Timestamp, Context, Error_severity jsonText

	TextPayload, Log jsonText // Cloud SQL, Docker
	JsonPayload      struct{ Message jsonText }
	Events, Records  []json.RawMessage // CloudWatch, Azure
	Record           struct {          // CloudNativePG
		Database_name, Session_id, Command_tag, Message, Detail, Log_time, Context, Error_severity jsonText
	}
	Properties struct { // Azure
		Message, Detail, Timestamp jsonText
		// Of a slow log.
		Start_time, User_host, Db, Sql_text jsonText
		Query_time, Thread_id               json.RawMessage
	}
}

// shipping lists the fields of wrappers.
var shipping = map[string]bool{"textPayload": true, "log": true, "jsonPayload": true, "events": true, "records": true, "record": true,
	"properties": true}

func unwrapped(raw []byte) (w wrapper, err error) {
	err = json.Unmarshal(raw, &w)
	if form := (*json.UnmarshalTypeError)(nil); errors.As(err, &form) {
		err = nil // an operator's own record, of another form
	}
	return w, err
}

// records returns the records within a record.
func (w *wrapper) records() []json.RawMessage { return append(w.Events, w.Records...) }

// text returns the server's lines in the record, or an empty text if it holds none.
func (w *wrapper) text() string {
	text := cmp.Or(w.TextPayload, w.Log, w.JsonPayload.Message, w.Properties.Message)
	if text == "" && w.Record.Message == "" && w.Session_id == "" {
		text = w.Message
	}
	return string(text)
}

// after returns the line that follows the text.
func (w *wrapper) after() jsonText {
	if w.Properties.Detail == "" || strings.Contains(string(w.Properties.Detail), "DETAIL:  ") {
		return w.Properties.Detail
	}
	return "DETAIL:  " + w.Properties.Detail
}

// slow returns the lines that a slow log has in a file, or an empty text if the record is of none.
func (w *wrapper) slow() string {
	p := w.Properties
	if p.Sql_text == "" {
		return ""
	}
	bare := func(raw json.RawMessage) string { return strings.Trim(string(raw), `"`) }
	return slowLines(string(p.Start_time), string(p.User_host), bare(p.Thread_id), bare(p.Query_time), string(p.Db), string(p.Sql_text))
}

// slowLines returns a slow log's lines of a statement. An empty database is left out.
func slowLines(at, user, id, took, database, text string) string {
	lines := fmt.Sprintf("# Time: %s\n# User@Host: %s  Id: %s\n# Query_time: %s  Lock_time: 0\n", at, user, id, took)
	if database != "" {
		lines += "use " + database + ";\n"
	}
	return lines + "SET timestamp=0;\n" + strings.TrimRight(text, "; \n") + ";\n"
}

// spread reports whether objects take several lines each.
func spread(in *bufio.Reader) bool {
	head, _ := in.Peek(1 << 12)
	first, rest, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	first, rest = bytes.TrimSpace(first), bytes.TrimSpace(rest)
	return string(first) == "{" || string(first) == "[{" || string(first) == "[" && !bytes.HasPrefix(rest, []byte(`{"`)) ||
		bytes.HasPrefix(first, []byte("[{")) && bytes.HasSuffix(first, []byte("}]")) && !bytes.HasPrefix(rest, []byte("{"))
}

// eachObject reads the objects of a JSON text one by one: an array's elements, or objects that follow one another.
func eachObject(in *bufio.Reader, take func(raw []byte) error) error {
	bounded := &record{Reader: in, left: filesystem.Longest}
	d := json.NewDecoder(bounded)
	if head, _ := in.Peek(1); len(head) > 0 && head[0] == '[' {
		if _, err := d.Token(); err != nil {
			return err
		}
	}
	for d.More() {
		bounded.left = filesystem.Longest
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return nil // the last record is still being written
			}
			return err
		}
		if err := take(raw); err != nil {
			return err
		}
	}
	return nil
}

// order watches whether the records of an export go forwards in time. The zero value is ready for use.
type order struct {
	last                string
	forwards, backwards int
}

func (o *order) add(at string) {
	switch {
	case o.last == "" || at == "" || at == o.last:
	case at > o.last:
		o.forwards++
	default:
		o.backwards++
	}
	o.last = cmp.Or(at, o.last)
}

// wrong returns an error if an export goes backwards, as clouds' own tools do.
func (o *order) wrong() error {
	if o.backwards <= o.forwards {
		return nil
	}
	return filewise.Errorf(filewise.CodeUsage, "export it in the order of time (gcloud: --order=asc; SQL: ORDER BY event_time)",
		"the log's records go from the last to the first")
}
