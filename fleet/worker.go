package fleet

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"filewise"
	"filewise/results/archive"
	"filewise/results/store"
)

// Dial connects to Temporal at HOST:PORT. If the address is empty, it comes from the environment. Namespace, TLS and
// API key come from TEMPORAL_… in the environment, or from a profile of temporal.toml. Errors in the background are
// passed to say, unless say is nil.
func Dial(ctx context.Context, address string, say func(string)) (out Campaigns, err error) {
	o, err := settings()
	if err != nil {
		return out, err
	}
	if err := encrypt(&o); err != nil {
		return out, err
	}
	o.HostPort = cmp.Or(address, o.HostPort, client.DefaultHostPort)
	if strings.Contains(o.HostPort, "@") { // the part before it is a secret, and must not be shown
		return out, filewise.Errorf(filewise.CodeUsage, "give HOST:PORT, and the API key by TEMPORAL_API_KEY or its file (docs/fleet.md)",
			"Temporal's address has no user and password")
	}
	o.Identity = identity()
	logger := slog.New(slog.DiscardHandler)
	if say != nil {
		logger = slog.New(&listener{say: say, back: func(ctx context.Context) error { return out.answers(ctx) }})
	}
	o.Logger = log.NewStructuredLogger(logger)
	out.how.DataConverter = cmp.Or(o.DataConverter, converter.GetDefaultDataConverter())
	out.how.FailureConverter, out.silent = cmp.Or(o.FailureConverter, temporal.GetDefaultFailureConverter()), new(atomic.Bool)
	if out.Client, err = client.DialContext(ctx, o); err != nil {
		if unresolved := resolve(ctx, o.HostPort); unresolved != nil {
			err = unresolved
		}
		return out, filewise.Errorf(filewise.CodePreflight, reachable(err), "Temporal at %s cannot be reached: %w", o.HostPort, err)
	}
	return out, nil
}

// reachable returns the remedy if Temporal cannot be reached.
func reachable(err error) string {
	for _, c := range []struct{ said, remedy string }{
		{"does not look like a TLS handshake", "it speaks no TLS there: take TEMPORAL_TLS… and the API key away, which turns TLS " +
			"on, or give the port with TLS"},
		{"unknown authority", "name a file with the certificate by which its own is signed: TEMPORAL_TLS_SERVER_CA_CERT_PATH"},
		{"expired", "renew the certificate"},
		{"preface", "it may need TLS (TEMPORAL_TLS=true), or a certificate of yours (TEMPORAL_TLS_CLIENT_CERT_PATH, " +
			"TEMPORAL_TLS_CLIENT_KEY_PATH)"},
	} {
		if strings.Contains(err.Error(), c.said) {
			return c.remedy
		}
	}
	return "start it, or give its address (--temporal HOST:PORT), and the TLS and key that it needs (docs/fleet.md)"
}

const identityPrefix = "filewise@"

// identity returns a name that distinguishes this machine's workers from others on Temporal. It is empty if the machine
// has no name.
func identity() string {
	if name, err := os.Hostname(); err == nil {
		return identityPrefix + name
	}
	return ""
}

// elsewhere returns a machine other than me that has polled for a host's work, or an empty text if there is none.
func elsewhere(pollers []*taskqueue.PollerInfo, me string) string {
	for _, p := range pollers {
		if name, ok := strings.CutPrefix(p.GetIdentity(), identityPrefix); ok && p.GetIdentity() != me && alive(p) {
			return name
		}
	}
	return ""
}

// resolve returns why an address cannot be resolved. gRPC itself reports only that the address has no children.
func resolve(ctx context.Context, address string) error {
	if strings.Contains(address, "/") { // of a resolver of gRPC's
		return nil
	}
	host, _, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.DefaultResolver.LookupHost(ctx, host)
	}
	return err
}

// Work offers the site's host to campaigns until the context ends. Then it ends an open run cleanly. The next worker on
// this host resumes the run on request.
func Work(ctx context.Context, c Campaigns, site Site) error {
	if err := (Job{Campaign: "c", Host: site.Host}).check(); err != nil {
		return err
	}
	failed := make(chan error, 2)
	fatal := func(err error) { failed <- err }
	b := &bench{site: site, idle: idleFor, share: Share, driver: site.driver()}
	decides := worker.New(c.Client, queue, worker.Options{OnFatalError: fatal, LocalActivityWorkerOnly: true,
		DeadlockDetectionTimeout: 5 * time.Second}) // a host that measures may be late
	register(decides)
	measures := worker.New(c.Client, queueOf(site.Host), worker.Options{OnFatalError: fatal, DisableWorkflowWorker: true,
		MaxConcurrentActivityTaskPollers: 1, MaxConcurrentActivityExecutionSize: 4, WorkerStopTimeout: stopWithin,
		MaxHeartbeatThrottleInterval: tellEvery})
	for name, do := range b.activities() {
		measures.RegisterActivityWithOptions(do, activity.RegisterOptions{Name: name})
	}
	for _, w := range []worker.Worker{decides, measures} {
		if err := w.Start(); err != nil {
			return unreachable(err)
		}
		defer w.Stop()
	}
	if err := offer(ctx, c.Client, site.Offer); err != nil {
		return err
	}
	site.Say("host " + site.Host + " works for campaigns; Ctrl-C ends it")
	if d, err := c.DescribeTaskQueue(ctx, queueOf(site.Host), enums.TASK_QUEUE_TYPE_ACTIVITY); err == nil {
		if other := elsewhere(d.GetPollers(), identity()); other != "" {
			site.Say(other + " has worked as host " + site.Host + " in the last minutes, too: if that goes on, each measures a part of the " +
				"host's jobs, so give one of them a separate name (--host)")
		}
	}
	defer b.end()
	select {
	case <-ctx.Done():
		goodbye(c, site.Offer)
		return nil
	case err := <-failed:
		return filewise.Errorf(filewise.CodeStopped, "start the worker again once Temporal is back", "Temporal: %w", err)
	}
}

// activities returns the activities that a workflow may execute on the host.
func (b *bench) activities() map[string]any {
	return map[string]any{"Next": b.Next, "Close": b.Close, "Export": b.Export, actDrive: b.Drive}
}

// end ends the open run, and closes the driver.
func (b *bench) end() {
	if b.driver != nil {
		_ = b.driver.Close() // what was open is gone
	}
	b.mu.Lock()
	m := b.open
	b.mu.Unlock()
	if m != nil {
		m.close()
	}
}

// register registers the workflows, so that a worker decides what comes next.
func register(w worker.WorkflowRegistry) {
	w.RegisterWorkflowWithOptions(Experiment, workflow.RegisterOptions{Name: typeExperiment})
	w.RegisterWorkflowWithOptions(Host, workflow.RegisterOptions{Name: typeHost})
	w.RegisterWorkflowWithOptions(Driver, workflow.RegisterOptions{Name: typeDriver})
}

const (
	typeExperiment = "FilewiseExperiment"
	typeHost       = "FilewiseHost"
	hostPrefix     = "filewise-host/" // of IDs
)

// offer announces to campaigns what the host offers.
func offer(ctx context.Context, c client.Client, o Offer) error {
	_, err := c.SignalWithStartWorkflow(ctx, hostPrefix+o.Host, signalOffer, o, client.StartWorkflowOptions{
		TaskQueue: queue, Memo: map[string]any{memoOffer: o}, WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, typeHost, o)
	if err != nil {
		return filewise.Errorf(filewise.CodePreflight, "see that the account may start workflows there", "offer the host on Temporal: %w", err)
	}
	return nil
}

// goodbye announces to campaigns that the host's worker ends, since Temporal would assume for two minutes that it
// lives. The host's workflow stores the announcement while this worker can still execute it. A Temporal that is away is
// not waited for.
func goodbye(c Campaigns, o Offer) {
	ctx, cancel := context.WithTimeout(context.Background(), goodbyeWithin)
	defer cancel()
	if o.Left = identity(); o.Left == "" || offer(ctx, c.Client, o) != nil {
		return
	}
	for {
		d, err := c.DescribeWorkflowExecution(ctx, hostPrefix+o.Host, "")
		var said Offer
		known := err == nil && c.how.DataConverter.FromPayload(d.GetWorkflowExecutionInfo().GetMemo().GetFields()[memoOffer], &said) == nil
		if known && said.Left == o.Left || (filewise.RealClock{}).Sleep(ctx, goodbyeWithin/50) != nil {
			return
		}
	}
}

const goodbyeWithin = 3 * time.Second

// bundleOf returns the run as a bundle, with the bundle's hash.
func bundleOf(r archive.Run, by store.Manifest) ([]byte, string, error) {
	var b bytes.Buffer
	if err := store.ExportBundle(&b, r.Run, r.Trials, by); err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(b.Bytes())
	return b.Bytes(), hex.EncodeToString(sum[:]), nil
}
