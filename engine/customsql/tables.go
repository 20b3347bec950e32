package customsql

import (
	"slices"
	"strings"
)

// dropDatabase removes the database's name in front of another name: db.table. In T-SQL, it does so in
// db.schema.table and db..table only, since the first name of two is a schema.
func (s *shaper) dropDatabase(database string) {
	same := func(name string) bool { return name == database || s.transact && strings.EqualFold(name, database) }
	for i := 0; i+2 < len(s.tokens); i++ {
		if database == "" || !same(s.tokens[i].name()) || !s.tokens[i+1].is(".") || s.at(i-1).is(".") {
			continue
		}
		n := 2
		if s.at(i + 2).is(".") {
			n = 3
		} else if s.transact && !s.at(i+3).is(".") {
			continue
		}
		s.tokens[i+n].spaced = s.tokens[i].spaced
		s.tokens = slices.Delete(s.tokens, i, i+n)
	}
}

// path reads a name, qualified by a schema or not, and returns the index after it.
func (s *shaper) path(i int) (name string, end int) {
	if i >= len(s.tokens) {
		return "", i
	}
	name = s.tokens[i].name()
	if name != "" && i+2 < len(s.tokens) && s.tokens[i+1].is(".") {
		if of := s.tokens[i+2].name(); of != "" {
			return name + "." + of, i + 3
		}
	}
	return name, i + 1
}

// findTables records the names in places of table names. The FROM inside a function gives names of other things, which
// does no harm.
func (s *shaper) findTables() {
	listing, depth, at := false, 0, 0
	for i := range s.tokens {
		t := s.tokens[i]
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is("UPDATE") && i > 0 && s.tokens[i-1].is("FOR", "DO", "KEY"):
		case t.is("FROM", "JOIN", "INTO", "UPDATE"):
			s.table(i + 1)
			listing, at = t.is("FROM", "UPDATE"), depth
		case s.bare(i):
			s.table(i + 1)
		case t.is("WHERE", "SET", "ON", "GROUP", "ORDER", "LIMIT", "SELECT", "VALUES", "USING"):
			listing = false
		case t.is(",") && listing && depth == at:
			s.table(i + 1)
		}
	}
	if s.transact { // UPDATE x … FROM t AS x names no table x
		s.tables = slices.DeleteFunc(s.tables, func(name string) bool { return s.aliases[s.called(name)] != name })
	}
}

// bare reports whether a table directly follows INSERT, MERGE or DELETE, without the usual INTO or FROM.
func (s *shaper) bare(i int) bool {
	return s.transact && s.tokens[i].is("INSERT", "MERGE", "DELETE") && (s.at(i+1).name() != "" || s.at(i+1).is("TOP"))
}

func (s *shaper) table(i int) {
	for i < len(s.tokens) && s.tokens[i].is("ONLY", "LATERAL", "IGNORE", "LOW_PRIORITY") {
		i++
	}
	if s.at(i).is("TOP") && s.at(i+1).is("(") {
		i = s.closing(i+1) + 1
	}
	name, end := s.path(i)
	if name == "" {
		return
	}
	if !slices.Contains(s.tables, name) {
		s.tables = append(s.tables, name)
	}
	s.aliases[s.called(name)] = name
	s.aliases[s.called(name[strings.LastIndex(name, ".")+1:])] = name
	if end < len(s.tokens) && s.tokens[end].is("AS") {
		end++
	}
	if end < len(s.tokens) {
		if alias := s.tokens[end].name(); alias != "" {
			s.aliases[s.called(alias)] = name
		}
	}
}

func (s *shaper) called(name string) string {
	if s.transact {
		return strings.ToLower(name)
	}
	return name
}

// findInserted finds the columns of INSERT INTO t (…) VALUES.
func (s *shaper) findInserted(columns func(string) ([]string, error)) (err error) {
	for i, t := range s.tokens {
		name, end := s.path(i + 1)
		if !t.is("INTO") && !(s.bare(i) && name != "") {
			continue
		}
		s.intoOf = name
		if end < len(s.tokens) && s.tokens[end].is("(") {
			for _, x := range s.tokens[end+1 : s.closing(end)] {
				if column := x.name(); column != "" {
					s.into = append(s.into, column)
				}
			}
		} else if columns != nil {
			s.into, err = columns(name)
		}
		return err
	}
	return nil
}
