package study

import (
	"slices"

	"filewise/lab/workload"
)

// keyDefault is the key of the SQL for engines without their own key. keyFile is the key of a script's file.
const (
	keyDefault = "default"
	keyFile    = "file"
)

// customSpec returns the specification of the section custom.
func customSpec(engines []string) *spec {
	script := scriptSpec(engines)
	return &spec{Type: object, raw: true, usage: "custom SQL, for scenario custom", required: []string{"transactions"}, fields: []member{
		{"tables", &spec{Type: named, usage: "the tables that the layout spreads, each with the column by which partitions divide it",
			of: &spec{Type: typeText, usage: "the column"}}},
		{"shard_by", &spec{Type: typeText, usage: "sqlite: the parameter whose value modulo {{.Shards}} is the file (shard) of a transaction"}},
		{"setup", setupSpec(script)},
		{"parameters", &spec{Type: named, usage: "what stands behind a colon in SQL (:NAME): a value that each transaction draws again, from " +
			"the seed", of: parameterSpec()}},
		{"transactions", &spec{Type: named, usage: "types of transactions by name; several statements stand between BEGIN and COMMIT",
			of: transactionSpec(script)}},
		{"think", &spec{Type: either, usage: "how long a connection rests before a transaction (closed loop)", either: []*spec{
			{Type: typeTime, usage: "always so long"},
			{Type: object, required: []string{"mean"}, fields: []member{{"mean",
				&spec{Type: typeTime, usage: "on average, with an exponential distribution"}}}},
		}}},
		{"checks", &spec{Type: items, usage: "queries that check the data after each trial", of: checkSpec(script)}},
	}}
}

// scriptSpec returns the specification of SQL: a text, a list of statements, or either by engine.
func scriptSpec(engines []string) *spec {
	text := &spec{Type: typeText, usage: "statements, divided by semicolons"}
	list := &spec{Type: items, usage: "statements, one in each item, semicolons included", of: &spec{Type: typeText}}
	one := &spec{Type: either, usage: "SQL", either: []*spec{text, list}}
	by := &spec{Type: object, usage: "SQL by engine"}
	for _, e := range append(slices.Clone(engines), keyDefault) {
		by.fields = append(by.fields, member{e, one})
	}
	by.fields = append(by.fields, member{keyFile, &spec{Type: typeText, usage: "a file of statements, its path relative to the study file"}})
	return &spec{Type: either, usage: "SQL, for all engines or by engine", either: []*spec{text, list, by}}
}

func setupSpec(script *spec) *spec {
	s := *script
	s.usage = "statements that make and fill the tables of each build; {{spread \"TABLE\"}} at the end of a CREATE TABLE puts it as the " +
		"layout places it"
	return &s
}

func transactionSpec(script *spec) *spec {
	least, most := 0.0, 1e6
	return &spec{Type: object, required: []string{"sql"}, fields: []member{
		{"weight", &spec{Type: typeWhole, usage: "how often it comes, relative to the others", usual: "1", least: &least, most: &most}},
		{"sql", script},
	}}
}

func checkSpec(script *spec) *spec {
	return &spec{Type: object, required: []string{"query"}, fields: []member{
		{"query", script},
		{"expect", &spec{Type: typeText, usage: `the one value that it returns, or "no rows"`}},
		{"committed", &spec{Type: typeText, usage: "the type of transactions whose number it returns: plus + each × committed"}},
		{"each", &spec{Type: typeWhole, usual: "1"}},
		{"plus", &spec{Type: typeWhole, usual: "0"}},
	}}
}

func parameterSpec() *spec {
	number := func(usage string) *spec { return &spec{Type: typeWhole, usage: usage} }
	between := func(usage string, more ...member) *spec {
		fields := append([]member{{"from", number("the least")}, {"to", number("the most")}}, more...)
		return &spec{Type: object, usage: usage, required: []string{"from", "to"}, fields: fields}
	}
	letters := &spec{Type: either, usage: "random letters", either: []*spec{
		{Type: typeWhole, usage: "so many"}, between("as many as from … to"),
	}}
	zero := 0.0
	weights := &spec{Type: either, usage: "one of these", either: []*spec{
		{Type: items, of: &spec{Type: typeText}},
		{Type: named, blank: true, of: &spec{Type: typeWhole, least: &zero, usage: "its weight"}},
	}}
	span := &spec{Type: object, usage: "a moment from … to below …, in UTC: 2026-01-31 or 2026-01-31T12:00:00Z",
		required: []string{"from", "to"},
		fields:   []member{{"from", &spec{Type: typeText}}, {"to", &spec{Type: typeText}}}}
	real := &spec{Type: object, usage: "a number from … to below …", required: []string{"from", "to"},
		fields: []member{{"from", &spec{Type: typeNumber}}, {"to", &spec{Type: typeNumber}}}}
	return &spec{Type: either, usage: "how a value is drawn", either: []*spec{
		{Type: typeText, usage: "the connection's number, or the operation's, both from 0, or a random UUID",
			choices: []string{workload.DrawWorker, workload.DrawOp, workload.DrawUUID}},
		{Type: object, fields: []member{
			{workload.DrawInt, between("a whole number, each as likely")},
			{workload.DrawZipf, between("a whole number, the n-th as likely as 1/n^theta", member{"theta", &spec{Type: typeNumber, usual: "0.99"}})},
			{workload.DrawNURand, between("a whole number, non-uniform by TPC-C, clause 2.1.6", member{"a", number("255, 1023 or 8191 there")})},
			{workload.DrawSequential, &spec{Type: object, usage: "from, from + 1, … over all connections, each once", required: []string{"from"},
				fields: []member{{"from", number("the first")}}}},
			{workload.DrawRange, between("a whole number of the connection's own part of the range")},
			{workload.DrawFloat, real},
			{workload.DrawText, letters},
			{workload.DrawWord, letters},
			{workload.DrawChoice, weights},
			{workload.DrawTimestamp, span},
		}},
	}}
}
