package dialect

import (
	"context"
	"database/sql/driver"
	"fmt"
	"unsafe"

	"filewise"
	"filewise/engine/internal/session"
)

// typed sends operations of several types, each of which is one statement that is
// a transaction. Statements are texts with their arguments in them: to execute a
// prepared one, the driver allocates for each argument, and a CALL saves the server
// nothing by being prepared.
type typed struct {
	*connection
	writer filewise.ArgsWriter // nil: the arguments are appended
	texts  []statementText     // by type
	direct executor
	values values
	buf    []byte
	churn  *churn
}

// executor is the driver's own connection. Its Exec reads the answer to its end
// and keeps nothing of it.
type executor interface {
	Exec(query string, args []driver.Value) (driver.Result, error)
}

// newTyped readies a session for the types of a phase. A procedure that is
// interrupted does not get to its end: its transaction is rolled back.
func newTyped(ctx context.Context, s *connection) (_ filewise.Session, err error) {
	t := &typed{connection: s}
	t.One = t.one
	t.writer, _ = s.Phase.Args.(filewise.ArgsWriter)
	t.texts, err = session.Render(s.Phase, func(section string) (statementText, error) {
		text, err := s.schema.Statement(section, s.schema.TableOf(s.Worker))
		return divided(text), err
	})
	if err == nil {
		t.churn, err = s.schema.newChurn()
	}
	if err == nil {
		err = s.ready(ctx)
	}
	if err != nil {
		return nil, err
	}
	return t, s.conn.Raw(func(connection any) (err error) {
		var ok bool
		if t.direct, ok = connection.(executor); !ok {
			err = fmt.Errorf("the driver's connection %T executes no texts", connection)
		}
		return err
	})
}

// one executes an operation, after the table that is created and dropped.
func (t *typed) one(_ context.Context, i int64) error {
	if t.churn != nil {
		if err := t.churn.createAndDropTable(t.direct); err != nil {
			return fmt.Errorf("churn: %w", err)
		}
	}
	t.values.reset()
	if t.writer != nil {
		t.writer.WriteArgs(&t.values, t.Worker, i)
	} else if err := t.values.write(t.Phase.Args.Args(nil, t.Worker, i)); err != nil {
		return err
	}
	var err error
	n := t.Type(i)
	if t.buf, err = t.texts[n].fill(t.buf[:0], &t.values); err != nil {
		return err
	}
	if err := execute(t.direct, t.buf); err != nil {
		return fmt.Errorf("%s: %w", t.Phase.Types[n], err)
	}
	return nil
}

// execute lends a statement to the driver, which copies it before it returns.
func execute(to executor, statement []byte) error {
	_, err := to.Exec(unsafe.String(unsafe.SliceData(statement), len(statement)), nil)
	return err
}
