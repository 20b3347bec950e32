package apply

import (
	"fmt"
	"strings"

	"filewise"
	"filewise/engine/postgres/dialect"
)

// leaf is a table that holds rows: a partition, or all of a table that has none.
type leaf struct {
	name, space, index string // and the tablespaces of its rows and of its indexes
	keep               bool   // the indexes keep the ones that they have
}

// shape describes how a table lies: in partitions, or in one piece if there is one leaf of
// the table's own name.
type shape []leaf

func (s shape) partitioned(t table) bool { return s[0].name != t.Name }

// whole returns the shape that a table has that is not partitioned.
func whole(t table) shape { return shape{{name: t.Name, space: t.space, keep: true}} }

// rebuild is the transaction that brings a table from one shape to another. The old one
// is kept in a schema of its own.
type rebuild struct {
	table
	from, to shape
	held     string // the schema
	sql      []string
}

func (r *rebuild) add(format string, args ...any) {
	r.sql = append(r.sql, fmt.Sprintf(format, args...))
}

// do adds a section as an anonymous block.
func (r *rebuild) do(section string, vars map[string]any) error {
	sql, err := block(section, vars)
	r.sql = append(r.sql, sql)
	return err
}

// block returns a section as an anonymous block.
func block(section string, vars map[string]any) (string, error) {
	body, err := postgresText.Statement(section, vars)
	return "DO " + strings.TrimSpace(dialect.Literal(body)), err
}

// guard returns the block that fails unless the table is as it was read. It expects search_path = pg_catalog: names come
// in full then.
func (t table) guard() (string, error) {
	print, err := postgresText.Statement("fingerprint", map[string]any{"OID": "to_regclass(" + dialect.Literal(in(t.Schema, t.Name)) + ")"})
	if err != nil {
		return "", err
	}
	return block("unchanged", map[string]any{"Fingerprint": print, "Was": t.fingerprint, "Table": t.String()})
}

func (r *rebuild) statements() ([]string, error) {
	name, held := in(r.Schema, r.Name), in(r.held, r.Name)
	r.add("BEGIN")
	r.add("SET LOCAL lock_timeout = '10s'")
	r.add("SET LOCAL statement_timeout = 0")
	r.add("LOCK TABLE %s IN ACCESS EXCLUSIVE MODE", name)
	r.add("SET LOCAL search_path = pg_catalog")
	guard, err := r.guard()
	if err != nil {
		return nil, err
	}
	r.sql = append(r.sql, guard)
	r.add("CREATE SCHEMA %s", dialect.Ident(r.held))
	r.add("COMMENT ON SCHEMA %s IS %s", dialect.Ident(r.held), dialect.Literal(filewise.Aside+": the table as it was, until all is well"))
	r.sql = append(r.sql, r.parts["before"]...)
	r.add("ALTER TABLE %s SET SCHEMA %s", name, dialect.Ident(r.held))
	if r.from.partitioned(r.table) {
		for _, l := range r.from {
			r.add("ALTER TABLE %s SET SCHEMA %s", in(r.Schema, l.name), dialect.Ident(r.held))
		}
	}
	r.create(name, held)
	overriding := ""
	if r.identity {
		overriding = "OVERRIDING SYSTEM VALUE "
	}
	columns := strings.Join(r.columns, ", ")
	r.add("INSERT INTO %s (%s) %sSELECT %s FROM %s", name, columns, overriding, columns, held)
	r.index(name)
	for _, column := range r.parts["identity"] {
		of := func(table string) string {
			return "pg_get_serial_sequence(" + dialect.Literal(table) + ", " + dialect.Literal(column) + ")"
		}
		r.add("SELECT setval(%s, pg_sequence_last_value(%s))", of(name), of(held)) // none: it was never used
	}
	for _, what := range r.parts["rights"] {
		for _, l := range r.to {
			r.sql = append(r.sql, strings.Replace(what, "%s", in(r.Schema, l.name), 1))
		}
		if r.to.partitioned(r.table) {
			r.sql = append(r.sql, strings.Replace(what, "%s", name, 1))
		}
	}
	r.sql = append(r.sql, r.parts["after"]...)
	for _, what := range r.parts["default"] {
		r.add("ALTER TABLE %s %s", held, what) // else the sequences belong to both
	}
	if err := r.do("moved", map[string]any{"Held": held, "Table": name}); err != nil {
		return nil, err
	}
	r.add("COMMIT")
	return r.sql, nil
}

// in which tablespace what follows is made.
func (r *rebuild) in(space string) {
	r.add("SET LOCAL default_tablespace = %s", dialect.Literal(space))
}

// create makes the table in its new shape, without indexes.
func (r *rebuild) create(name, held string) {
	like, with, owner := "(LIKE "+held+" INCLUDING ALL EXCLUDING INDEXES EXCLUDING STATISTICS)", "", dialect.Ident(r.owner)
	if r.options != "" {
		with = " WITH (" + r.options + ")"
	}
	if !r.to.partitioned(r.table) {
		r.in(r.to[0].space)
		r.add("CREATE TABLE %s %s%s", name, like, with)
		r.add("ALTER TABLE %s OWNER TO %s", name, owner)
		return
	}
	r.in("")
	r.add("CREATE TABLE %s %s PARTITION BY HASH (%s)", name, like, dialect.Ident(r.key))
	r.add("ALTER TABLE %s OWNER TO %s", name, owner)
	for i, l := range r.to {
		r.in(l.space)
		r.add("CREATE TABLE %s PARTITION OF %s FOR VALUES WITH (MODULUS %d, REMAINDER %d)%s", in(r.Schema, l.name), name, len(r.to), i, with)
		r.add("ALTER TABLE %s OWNER TO %s", in(r.Schema, l.name), owner)
	}
}

// index makes the indexes: of each partition first, in its tablespace; the index of the
// whole table then takes them over.
func (r *rebuild) index(name string) {
	make := func(table, as string, x index) {
		switch {
		case x.constraint != "" && as == "":
			r.add("ALTER TABLE %s ADD %s", table, x.constraint)
		case x.constraint != "":
			r.add("ALTER TABLE %s ADD CONSTRAINT %s %s", table, as, x.constraint)
		case x.unique:
			r.add("CREATE UNIQUE INDEX %s ON %s %s", as, table, x.on)
		default:
			r.add("CREATE INDEX %s ON %s %s", as, table, x.on)
		}
	}
	for _, x := range r.indexes {
		space := x.space
		if r.to.partitioned(r.table) {
			space = ""
			for _, l := range r.to {
				if l.keep {
					l.index = x.space
				}
				r.in(l.index)
				make(in(r.Schema, l.name), "", x)
			}
		}
		r.in(space)
		make(name, x.name, x)
	}
}
