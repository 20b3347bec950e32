package postgres

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/lab/workload"
)

// BenchmarkRestore compares the restore of a build with psql, which loads the same dump into the
// same server: own is the build's speed as a multiple.
func BenchmarkRestore(b *testing.B) {
	fatal := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	path := filepath.Join(b.TempDir(), "dump.sql")
	var text bytes.Buffer
	text.WriteString("DROP TABLE IF EXISTS public.rows;\nCREATE TABLE public.rows (\n    id bigint NOT NULL,\n    body text NOT NULL\n);\n" +
		"COPY public.rows (id, body) FROM stdin;\n")
	for row := range 300_000 {
		fmt.Fprintf(&text, "%d\t%s\n", row, strings.Repeat(`x'';\\n`, 25))
	}
	text.WriteString("\\.\nALTER TABLE ONLY public.rows\n    ADD CONSTRAINT rows_pkey PRIMARY KEY (id);\nANALYZE;\n")
	fatal(os.WriteFile(path, text.Bytes(), 0o600))
	s, err := Engine{}.Open(b.Context(), filewise.Target{Engine: "postgres", Mode: filewise.Managed, Durability: filewise.DurabilityFull,
		Volumes: []filewise.Volume{{Name: "here", Dir: b.TempDir()}}})
	fatal(err)
	defer s.Close()
	look := workload.Script{"": []filewise.CustomText{{Text: "SELECT 1"}}}
	w, err := workload.NewCustom(workload.Params{Connections: 1, Custom: &workload.Custom{From: path,
		Tables:       []filewise.CustomTable{{Name: "rows", Key: "id"}},
		Transactions: []workload.Transaction{{Name: "look", Weight: 1, SQL: look}}}}, 1)
	fatal(err)
	l := partitions(1, 0)
	l.Kind = filewise.KindSingle
	db, err := s.Build(b.Context(), l, w.Program())
	fatal(err)
	defer func() { fatal(db.Drop(context.WithoutCancel(b.Context()))) }()
	i := db.Build.(*build).host.(*instance)
	c := i.link.Config
	var own, client []time.Duration
	for b.Loop() {
		start := time.Now()
		fatal(i.restoreDump(b.Context()))
		own = append(own, time.Since(start))
		cmd := exec.CommandContext(b.Context(), i.install.Program("psql"), "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1",
			"--host="+i.sites.dataDir(), fmt.Sprint("--port=", c.Port), "--username="+c.User, "--dbname="+c.Database, "--file="+path)
		cmd.Env = append(os.Environ(), "PGPASSWORD="+c.Password)
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
