package managed

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// BenchmarkRestore compares the restore of a build with the server's own client, which loads
// the same dump into the same server: own is the build's speed as a multiple.
func BenchmarkRestore(b *testing.B) {
	for _, p := range []*dialect.Product{dialect.MariaDB, dialect.MySQL} {
		b.Run(p.Name, func(b *testing.B) { benchmarkRestore(b, Engine{p}) })
	}
}

func benchmarkRestore(b *testing.B, e Engine) {
	fatal := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	path := filepath.Join(b.TempDir(), "dump.sql")
	var text bytes.Buffer
	text.WriteString("DROP TABLE IF EXISTS `rows`;\nCREATE TABLE `rows` (\n  `id` bigint NOT NULL,\n  `body` varchar(200) NOT NULL,\n" +
		"  PRIMARY KEY (`id`)\n) ENGINE=InnoDB;\n")
	for block := range 60 {
		text.WriteString("INSERT INTO `rows` VALUES ")
		for row := range 5000 {
			fmt.Fprintf(&text, "%s(%d,'%s')", strings.Repeat(",", min(row, 1)), block*5000+row, strings.Repeat("x'';\\n", 30))
		}
		text.WriteString(";\n")
	}
	fatal(os.WriteFile(path, text.Bytes(), 0o600))
	s, err := e.Open(b.Context(), filewise.Target{Engine: e.Name, Mode: filewise.Managed, Durability: filewise.DurabilityFull,
		Volumes: []filewise.Volume{{Name: "here", Dir: b.TempDir()}}})
	fatal(err)
	defer s.Close()
	p := trialStart
	p.Custom = &filewise.CustomSQL{From: path, Tables: []filewise.CustomTable{{Name: "rows", Key: "id"}}}
	db, err := s.Build(b.Context(), filewise.Layout{Name: "l", Kind: filewise.KindPerTable, Data: filewise.Spread{Files: 1,
		Bytes: 64 << 20, Allocation: filewise.Growing}}, p)
	fatal(err)
	i := db.Build.(build).instance
	var own, client []time.Duration
	for b.Loop() {
		start := time.Now()
		fatal(i.restoreDump(b.Context()))
		own = append(own, time.Since(start))
		cmd := exec.CommandContext(b.Context(), "mariadb", "--no-defaults", "--user="+account, "--socket="+socketName, "--database="+Database)
		cmd.Dir, cmd.Env, cmd.Stdin = i.design.dataDir(), append(os.Environ(), "MYSQL_PWD="+i.password), bytes.NewReader(text.Bytes())
		start = time.Now()
		out, err := cmd.CombinedOutput()
		client = append(client, time.Since(start))
		if err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	slices.Sort(own)
	slices.Sort(client)
	b.ReportMetric(client[len(client)/2].Seconds()/own[len(own)/2].Seconds(), "own")
	b.ReportMetric(float64(text.Len())/1e6/own[len(own)/2].Seconds(), "MB/s")
}
