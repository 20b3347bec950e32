//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"filewise/cmd/filewise/filewisetest"
	"filewise/results/store"
)

// serverRun returns the flags of a run on an engine's managed server.
func serverRun(engine string) []string {
	return []string{"--engine=" + engine, "--files=1,2", "--window=200ms", "--warm-up=50ms", "--size=12MiB", "--connections=2",
		"--durability=normal"}
}

// killServers kills runs with managed servers. The servers must end with the runs.
func killServers(engine string) func(*place) error {
	kill := killRuns(12*time.Second, serverRun(engine)...)
	return func(p *place) error { return errors.Join(kill(p), p.segmentsGone()) }
}

// install holds the command that installs each engine's server.
var install = map[string]string{"postgres": "scripts/setup postgresql", "mariadb": "scripts/setup mariadb-server",
	"mysql": "scripts/get-mysql"}

// noServer returns the reason why an engine has no managed server here.
func noServer(engine string) func(context.Context, *attack) string {
	return func(ctx context.Context, a *attack) string {
		out, _ := exec.CommandContext(ctx, a.filewise, "engines").Output()
		if !regexp.MustCompile(`(?m)^` + engine + ` .*\binstalled$`).Match(out) {
			return engine + " is not installed: run " + install[engine]
		}
		return ""
	}
}

// hitServers sends signals to a run's managed servers at a random moment, half of the times before the first trial is
// over: while they start, are loaded or write their pages. The run must go on, or end with a remedy, and
// resume must finish it.
func hitServers(engine string, signals ...syscall.Signal) func(*place) error {
	return func(p *place) error {
		c, err := p.start(nil, runArgs(serverRun(engine)...)...)
		if err != nil {
			return err
		}
		early := p.IntN(2) == 0
		if err := until(func() (bool, error) {
			s, err := p.stored()
			return len(s.trials) > 0 || early && len(filewisetest.ServersBelow(p.volume)) > 0 || over(c), err
		}); err != nil {
			return err
		}
		p.wait(3 * time.Second)
		for _, s := range signals {
			if _, err := p.signalServers(s); err != nil {
				return err
			}
			p.wait(2 * time.Second)
		}
		return p.recovers(c)
	}
}

func over(c *child) bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

func (p *place) wait(most time.Duration) { time.Sleep(time.Duration(p.Int64N(int64(most)))) }

// recovers checks that a run that was hit goes on, or ends so that it can be resumed, and leaves nothing behind. Trials
// may have failed.
func (p *place) recovers(c *child) error {
	code, err := c.exit()
	if err != nil {
		return err
	}
	if code == 1 || code == -1 || code == 2 {
		return fmt.Errorf("exit code %d\n%.2000s", code, c.stderr.Bytes())
	}
	before, err := p.stored()
	if err != nil {
		return err
	}
	if code != 0 && !p.helps(c) {
		return fmt.Errorf("exit code %d, and no word of what to do:\n%.2000s", code, c.stderr.Bytes())
	}
	if err := errors.Join(p.clean(), p.kept(before)); err != nil || before.run.ID == 0 {
		return err
	}
	if before.run.State == store.Done {
		complete, err := filewisetest.AsPlanned(before.run.Plan, before.trials)
		if err == nil && !complete {
			err = errors.New("the run is done, and not complete")
		}
		return err
	}
	if err := p.finish(); err != nil {
		return fmt.Errorf("after exit code %d, %s: %w\n%.1000s", code, before.run.State, err, c.stderr.Bytes())
	}
	return nil
}

// helps reports whether a run that has failed names a remedy.
func (p *place) helps(c *child) bool {
	_, remedy, ok := strings.Cut(c.stderr.String(), "→")
	return ok && strings.Contains(remedy, p.says)
}

// tests runs a package's tests as tries. They provide what an attack needs: a separate server, or a user's objects on
// it.
func tests(pkg, pattern string) func(*place) error {
	return func(p *place) error {
		dir, err := goList(p, "-f", "{{.Dir}}", pkg)
		if err != nil {
			return err
		}
		binary := filepath.Join(p.attack.dir, strings.ReplaceAll(pkg, "/", "-")+".test")
		if _, err := os.Stat(binary); err != nil {
			if out, err := goTool(p, "test", "-c", "-o", binary, pkg).CombinedOutput(); err != nil {
				return fmt.Errorf("building the tests of %s: %w\n%s", pkg, err, out)
			}
		}
		cmd := exec.CommandContext(p, binary, "-test.run", pattern, "-test.v", "-test.timeout=30m")
		cmd.Dir, cmd.Env = dir[0], append(os.Environ(), "TEST_FILEWISE_ATTACK=1", "TEST_FILEWISE_ALL=1", // on MySQL, too
			fmt.Sprintf("TEST_FILEWISE_KILL_SEED=%d", p.Uint64()))
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
		cmd.WaitDelay = 30 * time.Second
		out, err := cmd.CombinedOutput()
		p.count = max(1, strings.Count(string(out), "--- PASS: ")+strings.Count(string(out), "--- FAIL: "))
		if err != nil {
			return fmt.Errorf("%s of %s: %w\n%.6000s", pattern, pkg, err, failing(string(out)))
		}
		if strings.Contains(string(out), "--- SKIP: ") || strings.Contains(string(out), "no tests to run") {
			return fmt.Errorf("%s of %s was not tried:\n%.2000s", pattern, pkg, out)
		}
		return nil
	}
}

// each returns a try that runs all of these tries.
func each(tries ...func(*place) error) func(*place) error {
	return func(p *place) error {
		var err error
		count := 0
		for _, try := range tries {
			err = errors.Join(err, try(p))
			count += p.count
		}
		p.count = count
		return err
	}
}

// noTemporal returns the reason why Temporal is missing.
func noTemporal(context.Context, *attack) string {
	cache, err := os.UserCacheDir()
	if found, _ := filepath.Glob(filepath.Join(cache, "filewise", "temporal-*", "temporal")); err != nil || len(found) == 0 {
		return "run scripts/get-temporal, which builds it in some five minutes"
	}
	return ""
}

// killFleet has proof/fleet kill the parts of a campaign, and prove that nothing is lost or left.
func killFleet(p *place) error {
	p.count = min(20, p.most)
	cmd := goTool(p, "-C", "proof", "run", "./fleet", "-drivers=0", "-blocks=24", "-every=3s", fmt.Sprint("-kills=", p.count),
		fmt.Sprint("-seed=", p.Uint64()))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("proof/fleet: %w\n%.6000s", err, out)
	}
	return nil
}

// failing returns the output from the first failure on.
func failing(out string) string {
	if at := strings.Index(out, "--- FAIL"); at > 0 {
		return out[max(0, at-3000):]
	}
	return out
}

// fuzzed returns the fuzz targets of all packages.
func fuzzed(ctx context.Context) (targets [][2]string, err error) {
	lines, err := goList(ctx, "-f", `{{$p := .}}{{range .TestGoFiles}}{{$p.ImportPath}}={{$p.Dir}}/{{.}}
{{end}}{{range .XTestGoFiles}}{{$p.ImportPath}}={{$p.Dir}}/{{.}}
{{end}}`, "filewise/...")
	seen := map[string]bool{}
	for _, line := range lines {
		pkg, file, _ := strings.Cut(line, "=")
		text, readErr := os.ReadFile(file)
		if err = errors.Join(err, readErr); seen[pkg] || !strings.Contains(string(text), "\nfunc Fuzz") {
			continue
		}
		seen[pkg] = true
		out, listErr := goTool(ctx, "test", "-vet=off", "-list", "^Fuzz", pkg).Output()
		err = errors.Join(err, listErr)
		for name := range strings.FieldsSeq(string(out)) {
			if strings.HasPrefix(name, "Fuzz") {
				targets = append(targets, [2]string{pkg, name})
			}
		}
	}
	return targets, err
}

var executions = regexp.MustCompile(`execs: (\d+)`)

// outOfTime matches the output of a go test whose fuzzing time was over, without an input that fails:
// https://go.dev/issue/75804.
var outOfTime = regexp.MustCompile(`(?m)^--- FAIL: \w+ \(.*\)\n    context deadline exceeded\nFAIL$`)

// leastExecutions is the number of executions without which a target's seeds are taken not to work.
const leastExecutions = 100

// fuzz runs every fuzz target for an equal part of the time. A try is an execution.
func fuzz(p *place) error {
	targets, err := fuzzed(p)
	if err != nil {
		return err
	}
	p.count = 0
	for i, t := range targets {
		each := max(time.Until(p.end)/time.Duration(len(targets)-i), 15*time.Second)
		n, failed := p.fuzzed(t, each)
		for ; n < leastExecutions && failed == nil && each < 4*time.Minute; n, failed = p.fuzzed(t, each) {
			each *= 4 // a busy machine is still at the seeds, some of which take most of a second
		}
		p.count += n
		if n < leastExecutions && failed == nil {
			failed = fmt.Errorf("%d executions in %v: its seeds do not work", n, each)
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%s of %s: %w", t[1], t[0], failed))
		}
	}
	return err
}

// fuzzed runs a fuzz target for a time, and returns the number of its executions.
func (p *place) fuzzed(target [2]string, each time.Duration) (n int, err error) {
	// Inputs that a fuzzer finds are not minimized: with inputs of kilobytes it would do nothing else.
	cmd := goTool(p, "test", "-vet=off", "-run=^$", "-fuzz=^"+target[1]+"$", "-fuzztime="+each.Round(time.Second).String(),
		"-fuzzminimizetime=1x", "-parallel=1", target[0])
	out, err := cmd.CombinedOutput()
	if all := executions.FindAllSubmatch(out, -1); all != nil {
		_, _ = fmt.Sscan(string(all[len(all)-1][1]), &n)
	}
	if err == nil || outOfTime.Match(out) {
		return n, nil
	}
	return n, fmt.Errorf("%w\n%.3000s", err, out)
}
