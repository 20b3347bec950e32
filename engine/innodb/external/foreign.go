package external

import (
	"context"

	"filewise/engine/innodb/dialect"
)

// foreignKey is a foreign key with the databases and tables of both ends.
type foreignKey struct {
	name     string
	from, to [2]string
}

// Queries for foreign keys. For the views of information_schema MariaDB opens every table, unless TABLE_SCHEMA selects
// one database. That takes half a millisecond each, even in other databases. InnoDB's own dictionary is one table, with
// names like its files', and needs the privilege PROCESS. MySQL's views are tables of its dictionary.
const (
	inDictionary = `
SELECT SUBSTRING(ID, LOCATE('/', ID) + 1),
  CONVERT(CONVERT(CAST(SUBSTRING_INDEX(FOR_NAME, '/', 1) AS BINARY) USING filename) USING utf8mb4),
  CONVERT(CONVERT(CAST(SUBSTRING_INDEX(FOR_NAME, '/', -1) AS BINARY) USING filename) USING utf8mb4),
  CONVERT(CONVERT(CAST(SUBSTRING_INDEX(REF_NAME, '/', 1) AS BINARY) USING filename) USING utf8mb4),
  CONVERT(CONVERT(CAST(SUBSTRING_INDEX(REF_NAME, '/', -1) AS BINARY) USING filename) USING utf8mb4)
  FROM information_schema.INNODB_SYS_FOREIGN`
	inUsage = `
SELECT CONSTRAINT_NAME, TABLE_SCHEMA, TABLE_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME FROM information_schema.KEY_COLUMN_USAGE
 WHERE TABLE_SCHEMA = ? AND REFERENCED_TABLE_NAME IS NOT NULL`
	inViews = `
SELECT CONSTRAINT_NAME, CONSTRAINT_SCHEMA, TABLE_NAME, UNIQUE_CONSTRAINT_SCHEMA, REFERENCED_TABLE_NAME
  FROM information_schema.REFERENTIAL_CONSTRAINTS`
)

// foreignKeys returns the server's foreign keys. On MariaDB without the privilege PROCESS it returns only those inside
// the databases. If there is an error, it also returns the keys read so far.
func (s *server) foreignKeys(ctx context.Context, databases ...string) (all []foreignKey, err error) {
	ask := func(question string, args ...any) error {
		return dialect.Each(ctx, s.db, func(scan dialect.Scan) error {
			var k foreignKey
			err := scan(&k.name, &k.from[0], &k.from[1], &k.to[0], &k.to[1])
			all = append(all, k)
			return err
		}, question, args...)
	}
	switch {
	case s.product == dialect.MySQL:
		return all, ask(inViews)
	case s.rights.global["PROCESS"]:
		return all, ask(inDictionary)
	}
	for _, database := range databases {
		if err := ask(inUsage, database); err != nil {
			return all, err
		}
	}
	return all, nil
}
