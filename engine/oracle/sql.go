package oracle

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"text/template"

	"filewise"
	"filewise/engine/internal/orders"
	"filewise/engine/oracle/dialect"
	"filewise/internal/sqlfile"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// The SQL files: queries to the server, and one file for each workload.
var (
	templateFuncs = template.FuncMap{"ident": dialect.Ident, "longer": dialect.Name, "literal": dialect.Literal, "among": among,
		"bind": func(i int) int { return i + 1 }}
	workloads = words.Folder(sqlFiles, nil, templateFuncs)
	serverSQL = workloads.Apart("server")
)

var words = orders.Words{
	Types: map[string]string{"tiny": "NUMBER(10)", "small": "NUMBER(10)", "int": "NUMBER(10)", "amount": "NUMBER(18)", "limit": "NUMBER(18)",
		"big": "NUMBER(18)", "char": "CHAR(% BYTE)", "text": "VARCHAR2(% BYTE)", "name": "VARCHAR2(% BYTE)"},
	At: func(vars map[string]any, table string) (string, error) {
		return dialect.Ident(vars["T"].(map[string]string)[table])
	},
	Sum: "TO_CHAR(SUM(%))", EmptyIsNull: true,
}

// among returns a condition on names.
func among(names ...string) (string, error) {
	all, err := "", error(nil)
	for _, n := range names {
		quoted, wrong := dialect.Literal(n)
		all, err = all+", "+quoted, cmp.Or(err, wrong)
	}
	return "IN (" + strings.TrimPrefix(all, ", ") + ")", err
}

// vars are the variables of a section.
type vars map[string]any

// ask renders a section of server.sql that is one statement. It fails if a name or text cannot be quoted.
func ask(section string, v vars, args ...any) (statement, error) {
	return askOf(serverSQL, section, v, args...)
}

func askOf(f *sqlfile.File, section string, v vars, args ...any) (statement, error) {
	text, err := f.Statement(section, v)
	return statement{section: section, text: text, args: args}, err
}

func askAll(section string, v vars) ([]statement, error) {
	texts, err := serverSQL.Statements(section, v)
	return statementsOf(section, texts), err
}

func statementsOf(section string, texts []string) []statement {
	return filewise.Each(texts, func(t string) statement { return statement{section: section, text: t} })
}

// exec renders a section of server.sql and executes it.
func exec(ctx context.Context, c client, section string, v vars, args ...any) error {
	s, err := ask(section, v, args...)
	if err != nil {
		return err
	}
	return c.exec(ctx, s)
}

func rows(ctx context.Context, c client, columns int, section string, v vars, args ...any) ([][]any, error) {
	return rowsOf(ctx, c, serverSQL, columns, section, v, args...)
}

func rowsOf(ctx context.Context, c client, f *sqlfile.File, columns int, section string, v vars, args ...any) ([][]any, error) {
	s, err := askOf(f, section, v, args...)
	if err != nil {
		return nil, err
	}
	all, err := c.rows(ctx, s)
	if err == nil {
		return all, wide(all, columns)
	}
	if views := viewsIn(s); unreadable(err) && len(views) > 0 && filewise.RemedyOf(err) == "" {
		err = filewise.Errorf(filewise.CodePreflight, grants("the account", views), "%w", err)
	}
	return all, err
}

// grantable matches the views in a statement for which an account needs a separate right.
var grantable = regexp.MustCompile(`(?i)\bsys\.(dba_\w+|v_\$\w+)`)

// statements renders a section of the workload for one table. Sections for all tables range over .Tables themselves.
func (d *design) statements(section string, t table) ([]statement, error) {
	return d.statementsWith(section, t, nil)
}

func (d *design) statementsWith(section string, t table, more vars) ([]statement, error) {
	v := d.objectVars()
	v["Tables"], v["TableName"], v["Procedure"], v["Package"], v["Commit"] = d.tables, t.Name, t.Procedure, d.names.Package, d.commit
	// ORA-04000: the sum must not exceed 100.
	v["PctFree"], v["PctUsed"] = d.pctFree(), min(40, 100-d.pctFree())
	v["Reader"] = 0
	v["Connections"] = 1 // of a phase that loops on the server
	if d.program.Appends() {
		d.addPool(v)
	}
	maps.Copy(v, d.program.Vars())
	maps.Copy(v, more)
	texts, err := workloads[d.program.SQL()].Statements(section, v)
	return statementsOf(section, texts), err
}

// addPool adds the text from which payloads are cut.
func (d *design) addPool(v vars) {
	v["PieceSpan"] = pieceSpan
	pool := ""
	if d.program.First().Args != nil {
		pool = d.program.First().Args.Pool()
	}
	v["Pieces"] = pieces(pool, int(d.program.First().OpBytes))
}

// statement renders a section that consists of one statement.
func (d *design) statement(section string, t table) (statement, error) {
	return d.statementOf(0, section, t)
}

// statementOf renders a section that consists of one statement, for a worker.
func (d *design) statementOf(worker int, section string, t table) (statement, error) {
	all, err := d.statementsWith(section, t, vars{"Reader": worker})
	if err == nil && len(all) != 1 {
		err = filewise.Errorf(filewise.CodeInternal, "", "section %q has %d statements, expected 1", section, len(all))
	}
	if err != nil {
		return statement{}, err
	}
	return all[0], nil
}

// The text from which payloads are cut is divided into pieces. A VARCHAR2 of PL/SQL holds 32,767 bytes, more than
// pieceSpan + maxRow. A line of source holds 4,000.
const (
	pieceSpan = 28 << 10
	lineBytes = 3500
)

// pieces returns the expressions of the pool's pieces. Piece k begins at k × pieceSpan and overlaps the next piece by a
// row's length.
func pieces(pool string, row int) []string {
	var all []string
	for from := 0; from == 0 || from < len(pool)-row; from += pieceSpan {
		piece := pool[from:min(from+pieceSpan+row, len(pool))]
		var lines []string
		for len(piece) > 0 || len(lines) == 0 {
			n := min(lineBytes, len(piece))
			quoted, err := dialect.Literal(piece[:n])
			if err != nil {
				quoted = "NULL" // not in the generator's alphabet; the check would find it
			}
			lines, piece = append(lines, quoted), piece[n:]
		}
		all = append(all, strings.Join(lines, "\n    || "))
	}
	return all
}

var errNoRows = fmt.Errorf("the server returned no row")
