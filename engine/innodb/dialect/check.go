package dialect

import (
	"context"
	"database/sql"
)

// Check has the server check each of the tables.
func (s Schema) Check(ctx context.Context, link Link) error {
	return link.On(ctx, func(conn *sql.Conn) error {
		for _, t := range s.Tables {
			if err := tableOK(ctx, conn, "CHECK TABLE "+in(s.Database, t.Name)); err != nil {
				return err
			}
		}
		return nil
	})
}

// CreateEmpty is what creates the tables alone, with their indexes.
func (s Schema) CreateEmpty() ([]string, error) {
	all, err := s.Statements(SectionTables, Table{})
	for _, t := range s.Tables {
		if err != nil {
			return nil, err
		}
		var indexes []string
		indexes, err = s.ifAny(SectionIndexes, t)
		all = append(all, indexes...)
	}
	return all, err
}
