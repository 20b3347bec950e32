package sqlserver

import (
	"context"
	"fmt"
	"io"

	"filewise"
	"filewise/engine/sqlserver/internal/capturing"
)

// Watch opens a database of the user's, and only reads.
func (e Engine) Watch(ctx context.Context, t filewise.Target, database string) (filewise.Watcher, error) {
	opened, err := e.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	s := opened.(*externalServer)
	w := &capturing.Watcher{Banner: s.identity.banner(), Database: database, In: s.login.pool(database, appName, 1), Rules: customRules,
		Ident: ident, Numbers: numbers, Explain: s.login.explain, Grant: grantTo(grantView, s.identity.login), Denied: denied,
		Shut: s.Close}
	w.Look(ctx)
	return w, nil
}

// banner is product, version and edition.
func (i identity) banner() string {
	return fmt.Sprintf("SQL Server %s (%s %s), %s", i.version, i.versionText, i.level, i.edition)
}

// ReadLog refuses: a trace is no text.
func (Engine) ReadLog(io.Reader, string, func(filewise.LoggedStatement)) error {
	return unsupported("leave --log out, and have the Query Store count: ALTER DATABASE … SET QUERY_STORE = ON",
		"a log of SQL Server, whose traces are no text")
}

var _ filewise.Capturer = Engine{}
