package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filewise/workload"
)

// first are the keys that an example has at its beginning.
var first = []string{"engine", "target", "files", "size", "connections", "volume", "budget", "seed"}

// Example is a commented study file of a scenario, which runs as it stands. The
// keys that it leaves at their defaults are there as comments.
func Example(t Table, sc workload.Scenario) string {
	b := &strings.Builder{}
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	line("# A study file of Filewise. \"filewise plan FILE\" shows what it would do, \"filewise run")
	line("# FILE\" does it; flags that are given beside the file go before it. For completion in")
	line("# editors: filewise schema > filewise.schema.json, and leave the next line as it is.")
	line("# yaml-language-server: $schema=filewise.schema.json")
	line("")
	line("# %s: %s.", sc.Name, sc.Title)
	line("scenario: %s", sc.Name)
	line("")
	line("# On what. A server that exists is named by its URL instead:")
	line("#   target: postgres://me@db.example.org/postgres")
	line("#   password: ${DB_PASSWORD}      # from the environment: never in the file")
	line("engine: sqlite")
	line("")
	line("# The numbers of data files that are compared, the total size held constant.")
	line("files: [%s]", joined(sc.Files))
	if sc.Name == keyCustom {
		b.WriteString(customExample)
	}
	line("")
	line("# Several experiments share what stands above, and each says what differs:")
	line("#   experiments:")
	line("#     - {name: few, connections: 4}")
	line("#     - {name: many, connections: 32}")
	line("# A matrix makes one for each combination of its values:")
	line("#   matrix:")
	line("#     engine: [sqlite, postgres]")
	line("#     durability: [full, normal]")
	line("")
	line("# All other keys, with what holds where they are not given. They are the flags of")
	line("# \"filewise run\", by the same names; ${NAME} in a value is from the environment.")
	for _, k := range ordered(t, sc) {
		b.WriteString(commented(k, sc))
	}
	return b.String()
}

// ordered are the keys that the scenario understands and the example does not set.
func ordered(t Table, sc workload.Scenario) []Key {
	others := map[string]bool{}
	for _, o := range workload.Scenarios() {
		for _, name := range o.Flags {
			others[name] = !slices.Contains(sc.Flags, name)
		}
	}
	var begin, rest []Key
	for _, name := range first {
		if k := t.key(name); k != nil && name != "engine" && name != "files" && name != "target" {
			begin = append(begin, *k)
		}
	}
	for _, k := range t.Keys {
		if !others[k.Name] && !slices.Contains(first, k.Name) && !k.Once {
			rest = append(rest, k)
		}
	}
	for _, k := range t.Keys {
		if k.Once {
			rest = append(rest, k)
		}
	}
	return append(begin, rest...)
}

// commented is a key as a comment: what it says, then how it is written.
func commented(k Key, sc workload.Scenario) string {
	var b strings.Builder
	b.WriteString("\n")
	for _, l := range wrapped(k.Usage, 84) {
		b.WriteString("# " + l + "\n")
	}
	b.WriteString("#" + k.Name + ":" + k.sample(sc) + "\n")
	return b.String()
}

// sample is a value of the key, its default where there is one.
func (k Key) sample(sc workload.Scenario) string {
	usual := strings.Trim(k.Default, "[]")
	switch {
	case k.Name == "connections":
		return " " + strconv.Itoa(sc.Params.Connections)
	case k.Name == "size":
		return fmt.Sprintf(" %dMiB", sc.Bytes>>20)
	case k.Type == Pairs:
		return " {name: value}"
	case k.Type == Parts:
		return "\n#  - {files: 1}\n#  - {files: 8, name: mine}"
	case k.Type == Wholes:
		return " [1, 4, 8]"
	case k.Type == Texts:
		return "\n#  - …"
	case usual != "":
		return " " + usual
	case len(k.Choices) > 0:
		return " " + k.Choices[0]
	}
	return " …"
}

func joined(all []int) string {
	words := make([]string, len(all))
	for i, n := range all {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ", ")
}

// wrapped divides a text into lines of at most so many letters.
func wrapped(text string, most int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > most {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// customExample runs on every engine that workload custom is for.
const customExample = `
# Your own SQL. It is executed within the database that Filewise makes for a build, and
# nowhere else.
custom:
  # The tables that the layout spreads, each with the column by which partitions divide it.
  tables:
    accounts: id

  # Where files are databases of their own (SQLite), this parameter says which of them a
  # transaction is for: its value modulo {{.Shards}}.
  shard_by: id

  # What makes and fills the tables of each build. {{spread "accounts"}} becomes what puts
  # the table where the layout says; on SQLite the set-up runs in every file, of which
  # there are {{.Shards}}, and this one is {{.Shard}} (elsewhere 1 and 0).
  setup:
    default: |
      CREATE TABLE accounts (id INTEGER NOT NULL PRIMARY KEY, balance INTEGER NOT NULL, note VARCHAR(40)) {{spread "accounts"}};
      CREATE TABLE history (account INTEGER NOT NULL, amount INTEGER NOT NULL);
      INSERT INTO accounts (id, balance)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        SELECT i, 0 FROM n WHERE i % {{.Shards}} = {{.Shard}};

  # What stands behind a colon in SQL: a value that each transaction draws anew, from the
  # seed alone.
  parameters:
    id: {zipf: {from: 1, to: 1000, theta: 0.99}}
    amount: {int: {from: -100, to: 100}}
    note: {text: {from: 5, to: 40}}

  # Types of transactions, and how often each comes. Several statements stand between
  # BEGIN and COMMIT.
  transactions:
    deposit:
      weight: 3
      sql:
        - UPDATE accounts SET balance = balance + :amount, note = :note WHERE id = :id
        - INSERT INTO history (account, amount) VALUES (:id, :amount)
    look:
      weight: 1
      sql: SELECT balance FROM accounts WHERE id = :id

  # How long a connection rests before each transaction.
  #think: {mean: 5ms}

  # Whether the data are as they should be, after each trial.
  checks:
    - query: SELECT COUNT(*) FROM history
      committed: deposit          # one row for each
    - query: SELECT COUNT(*) FROM accounts
      expect: 1000
`
