package oracle

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/sqlfile"
)

// CheckOptions refuses options that the driver does not read.
func (Engine) CheckOptions(a filewise.Address) error { return options.Check(a) }

// Ask opens an existing database for questions.
func (Engine) Ask(ctx context.Context, t filewise.Target, text string) (filewise.Asked, error) {
	first, cancel := context.WithTimeout(ctx, filewise.ReadPatience)
	defer cancel()
	s, err := open(first, t)
	if err != nil {
		return nil, err
	}
	return &questions{client: s.control, about: s.about, file: ownSections(text), end: s.Close}, nil
}

// Asked returns the server's own session for questions. Closing it closes the server.
func (s *server) Asked() filewise.Asked {
	return &questions{client: s.control, about: s.about, file: serverSQL, end: s.Close}
}

// ownSections parses the sections of package own.
func ownSections(text string) *sqlfile.File {
	return sqlfile.Must(sqlfile.Parse("own", text, templateFuncs))
}

// questions is a session that queries the database. It implements filewise.Asked.
type questions struct {
	client client
	about  about
	file   *sqlfile.File
	views  []view // views that the last question read
	end    func() error
}

func (a *questions) About() filewise.About {
	return filewise.About{Server: "Oracle " + a.about.version, Account: a.about.account,
		Settings: map[string]string{"product": a.about.product, "block": fmt.Sprint(a.about.block), "host": a.about.host,
			"container": a.about.container, "service": a.about.service}}
}

func (a *questions) Close() error { return a.end() }

func (a *questions) Codes(err error) []string { return []string{codeText(err)} }

func (a *questions) Rows(ctx context.Context, section string, v map[string]any, args ...any) ([]filewise.Row, error) {
	of := serverSQL
	if a.file.Has(section) {
		of = a.file
	}
	s, err := askOf(of, section, v, args...)
	if err != nil {
		return nil, err
	}
	a.views = viewsIn(s)
	if strings.HasSuffix(s.text, "END;") { // a block returns no rows
		return nil, a.client.exec(ctx, s)
	}
	all, err := a.client.rows(ctx, s)
	return filewise.RowsOf(all), err
}

// viewsIn returns the views that a statement reads and an account needs a separate right for.
func viewsIn(s statement) []view {
	return filewise.Each(grantable.FindAllStringSubmatch(s.text, -1), func(n []string) view { return view{Name: strings.ToUpper(n[1])} })
}

// Waits returns the probe's counters: v$system_event without the class Idle.
func (a *questions) Waits(ctx context.Context) (all []filewise.Counter, err error) {
	found, err := a.Rows(ctx, "waits", nil)
	for _, r := range found {
		micro, ok := r.Real(3)
		if class := classOfEvent(r.Text(0), r.Text(1)); ok && class != "" {
			all = append(all, filewise.Counter{Name: r.Text(0), Unit: "s", Value: micro / 1e6, Class: class})
		}
	}
	return all, err
}

func (a *questions) Remedy(err error) string {
	if !unreadable(err) || len(a.views) == 0 {
		return ""
	}
	return grants(a.about.account, a.views)
}

// classOfEvent returns the class of a wait event. It goes by the name if that shows more than Oracle's own class
// (Oracle Database Reference, “Oracle Wait Events”). It returns "" if background processes wait for work or for each
// other.
func classOfEvent(name, class string) filewise.WaitClass {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	}
	switch {
	case class == "Idle", has("rdbms ipc message", "SQL*Net message from client"):
		return ""
	case has("enq: HW", "enq: FB", "enq: ST", "Data file init write", "enq: SS"):
		return filewise.WaitAllocation
	case has("direct path read temp", "direct path write temp"):
		return filewise.WaitTemp
	case has("log file", "log buffer"):
		if has("checkpoint incomplete") {
			return filewise.WaitCheckpoint
		}
		return filewise.WaitLog
	case has("db file parallel write", "direct path write", "db file async"):
		return filewise.WaitDataWrite
	case has("free buffer waits", "write complete waits"):
		return filewise.WaitMemory
	case has("buffer busy", "latch", "library cache", "cursor:"):
		return filewise.WaitLatch
	case has("enq: T", "enq: UL", "row lock"):
		return filewise.WaitLock
	}
	switch class {
	case "User I/O":
		return filewise.WaitDataRead
	case "System I/O":
		return filewise.WaitOther // background processes wait, and no session waits for them
	case "Commit":
		return filewise.WaitLog
	case "Network":
		return filewise.WaitNetwork
	}
	return filewise.WaitOther
}
