package customsql

import (
	"filewise"
	"filewise/engine/internal/session"
)

// Session are the transactions that a connection works with.
type Session struct {
	sections     [][]Statement // by type
	args, values []any
}

// Prepare readies the transactions of the connection's phase: prepare is given each
// statement, so that mistakes are found before the work. On the first connection try is
// given the queries of checks too: a trial that is measured first would be lost.
func (s *Session) Prepare(r Rules, c *filewise.CustomSQL, of *session.Session, prepare, try func(*Statement) error) error {
	for _, name := range of.Phase.Sections {
		all, err := r.Section(c, name)
		if err != nil {
			return err
		}
		s.sections = append(s.sections, all)
		if err := each(all, prepare); err != nil {
			return err
		}
	}
	if of.Worker > 0 {
		return nil
	}
	checks, err := r.Checks(c)
	if err != nil {
		return err
	}
	return each(checks, try)
}

func each(all []Statement, do func(*Statement) error) error {
	for i := range all {
		if err := do(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

// Do executes operation i of the connection.
func (s *Session) Do(c Conn, of *session.Session, i int64) error {
	s.args = of.Phase.Args.Args(s.args[:0], of.Worker, i)
	return s.Transact(c, of.Type(i), s.args)
}

// Transact executes a transaction of a type with its arguments.
func (s *Session) Transact(c Conn, kind int, args []any) (err error) {
	s.values, err = Transaction(c, s.sections[kind], args, s.values)
	return err
}
