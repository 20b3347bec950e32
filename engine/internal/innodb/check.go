package innodb

import "context"

// Check has the server check each of the tables.
func (s Schema) Check(ctx context.Context, link Link) error {
	conn, err := link.Control.Conn(ctx)
	if err != nil {
		return link.Explain(err)
	}
	defer conn.Close()
	for _, t := range s.Tables {
		if err := tableOK(ctx, conn, "CHECK TABLE "+own(s.Database, t.Name)); err != nil {
			return link.Explain(err)
		}
	}
	return nil
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
