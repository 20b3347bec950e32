package fleet

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"filewise"
)

// A request for labels that no host has lists the existing ones.
func TestLabelsThatAreThereAreNamed(t *testing.T) {
	hosts := []Present{{Offer: Offer{Host: "db1", Labels: []string{"storage=nvme"}}}, {Offer: Offer{Host: "db2",
		Labels: []string{"storage=nvme", "rack=b"}}}}
	for range 30 {
		hosts = append(hosts, Present{Offer: Offer{Host: "more"}})
	}
	for _, c := range []struct {
		all    []Present
		labels []string
		want   string
	}{
		{hosts[:2], []string{"storage=san", "rack=b"},
			"none of 2 hosts has storage=san and rack=b; there are rack=b, storage=nvme, host=db1, host=db2"},
		{hosts, []string{"host=db3"}, "host=more, and 14 more (filewise campaign list)"},
		{nil, nil, "no host has a worker yet"},
		{append(hosts[:1:1], Present{Offer: Offer{Host: "db2"}, Unread: "no key"}), []string{"host=db2"},
			"none of 1 host has host=db2; there are storage=nvme, host=db1; nothing can be read of 1 other: give FILEWISE_CAMPAIGN_KEY"},
		{[]Present{{Unread: "no key"}}, []string{"host=db1"}, "no key"},
	} {
		if _, err := having(c.all, c.labels); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.labels, err, c.want)
		}
	}
	began := []State{{Job: Job{Study: []byte("files: 1, 2")}}, {Job: Job{Study: []byte("files: 1, 4")}}}
	if n := Older(began, Study{Text: began[1].Study}); n != 1 {
		t.Errorf("%d jobs began with another study", n)
	}
	if text := (Signalled{Campaign: "c"}).Words(); !strings.HasPrefix(text, "All jobs of campaign c have ended") {
		t.Errorf("where nobody hears it: %q", text)
	}
	if some, err := having(hosts, []string{"host=DB1"}); err != nil || len(some) != 1 {
		t.Errorf("one host: %v, %v", some, err)
	}
	hosts[0].Working, hosts[1].Working = true, true
	if err := withOthers(errNoWorker, hosts, []string{"db1", "db3"}); err.Error() != "no worker is there; other hosts have one: db2" {
		t.Errorf("a driver that is not there: %v", err)
	}
}

// Two machines of one name are reported to each other; one that was restarted is not.
func TestAnotherMachineByTheSameName(t *testing.T) {
	asked := func(identity string, ago time.Duration) *taskqueue.PollerInfo {
		return &taskqueue.PollerInfo{Identity: identity, LastAccessTime: timestamppb.New(time.Now().Add(-ago))}
	}
	for _, c := range []struct {
		other *taskqueue.PollerInfo
		want  string
	}{
		{asked("filewise@web1", time.Second), "web1"},
		{asked("filewise@web1", time.Hour), ""},
		{asked("filewise@me", time.Second), ""},
	} {
		if got := elsewhere([]*taskqueue.PollerInfo{asked("filewise@me", 0), c.other}, "filewise@me"); got != c.want {
			t.Errorf("%v: %q, want %q", c.other, got, c.want)
		}
	}
}

// two is a Temporal with two campaigns, of which one can be read, and with two hosts, of which one's worker has
// announced its end.
type two struct {
	workflowservice.UnimplementedWorkflowServiceServer
	t     *testing.T
	other converter.DataConverter
}

func (*two) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (s *two) ListWorkflowExecutions(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (
	*workflowservice.ListWorkflowExecutionsResponse, error) {
	var out workflowservice.ListWorkflowExecutionsResponse
	add := func(id string, memo *commonpb.Memo) {
		out.Executions = append(out.Executions, &workflowpb.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: id}, Memo: memo})
	}
	if strings.Contains(r.GetQuery(), typeExperiment) {
		add("filewise-campaign/open/inserts@db1", nil)
		add("filewise-campaign/secret/inserts@db2", nil)
		return &out, nil
	}
	for _, o := range []Offer{{Host: "db1"}, {Host: "db2", Left: "filewise@web"}} {
		p, err := converter.GetDefaultDataConverter().ToPayload(o)
		if err != nil {
			s.t.Error(err)
		}
		add(hostPrefix+o.Host, &commonpb.Memo{Fields: map[string]*commonpb.Payload{memoOffer: p}})
	}
	return &out, nil
}

func (*two) DescribeTaskQueue(context.Context, *workflowservice.DescribeTaskQueueRequest) (
	*workflowservice.DescribeTaskQueueResponse, error,
) {
	return &workflowservice.DescribeTaskQueueResponse{Pollers: []*taskqueue.PollerInfo{{Identity: "filewise@web",
		LastAccessTime: timestamppb.Now()}}}, nil
}

func (*two) DescribeWorkflowExecution(context.Context, *workflowservice.DescribeWorkflowExecutionRequest) (
	*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
		Status: enums.WORKFLOW_EXECUTION_STATUS_COMPLETED}}, nil
}

func (s *two) GetWorkflowExecutionHistory(_ context.Context, r *workflowservice.GetWorkflowExecutionHistoryRequest) (
	*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
	by := converter.GetDefaultDataConverter()
	if strings.Contains(r.GetExecution().GetWorkflowId(), "secret") {
		by = s.other
	}
	p, err := by.ToPayloads(State{Job: Job{Campaign: "open", Experiment: "inserts", Host: "db1"}, Condition: Done})
	return &workflowservice.GetWorkflowExecutionHistoryResponse{History: &historypb.History{Events: []*historypb.HistoryEvent{{
		EventType: enums.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, Attributes: &historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes{
			WorkflowExecutionCompletedEventAttributes: &historypb.WorkflowExecutionCompletedEventAttributes{Result: p}}}}}}, err
}

// A campaign of which nothing can be read does not keep the others back, and a worker that has announced its end is
// gone at once.
func TestListWithoutTheKey(t *testing.T) {
	t.Setenv(KeyVariable, base64.StdEncoding.EncodeToString(make([]byte, 32)))
	var o client.Options
	if err := encrypt(&o); err != nil {
		t.Fatal(err)
	}
	c := Campaigns{Client: dialed(t, &two{t: t, other: o.DataConverter}), silent: new(atomic.Bool)}
	c.how.DataConverter = converter.GetDefaultDataConverter()
	all, err := c.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, s := range all.Campaigns {
		words = append(words, s.Words())
	}
	for _, h := range all.Hosts {
		words = append(words, fmt.Sprint(h.Host, " works: ", h.Working))
	}
	want := []string{"open: 1 done", "secret: 1 " + Unread, "db1 works: true", "db2 works: false"}
	if !slices.Equal(words, want) {
		t.Errorf("%q, want %q", words, want)
	}
	if _, err := c.States(t.Context(), []string{"filewise-campaign/secret/inserts@db2"}); filewise.CodeOf(err) != filewise.CodeUsage {
		t.Errorf("the campaign itself: %v", err)
	}
}

// busy is a Temporal that starts a workflow, and answers too late.
type busy struct {
	workflowservice.UnimplementedWorkflowServiceServer
	asked atomic.Int64
}

func (*busy) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (b *busy) StartWorkflowExecution(_ context.Context, r *workflowservice.StartWorkflowExecutionRequest) (
	*workflowservice.StartWorkflowExecutionResponse, error) {
	if b.asked.Add(1) == 1 {
		return nil, serviceerror.ToStatus(serviceerror.NewDeadlineExceeded("it has much to do")).Err()
	}
	return nil, serviceerror.ToStatus(serviceerror.NewWorkflowExecutionAlreadyStarted("it is there", r.GetRequestId(), "run")).Err()
}

// dialed is a client of a made-up Temporal.
func dialed(t *testing.T, there workflowservice.WorkflowServiceServer) client.Client {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, there)
	go func() { _ = server.Serve(l) }() // until it is stopped
	t.Cleanup(server.Stop)
	c, err := client.DialContext(t.Context(), client.Options{HostPort: l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// A campaign of many jobs is started also by a Temporal that has much to do.
func TestStartIsAskedAgain(t *testing.T) {
	c := dialed(t, new(busy))
	s := Study{File: "s.yaml", Text: []byte("scenario: inserts"), Experiments: []string{"inserts"}}
	hosts := []Present{{Offer: Offer{Host: "db1"}}}
	for again, want := range []int{1, 0} {
		ids, n, err := Campaigns{Client: c}.Start(t.Context(), "c", s, hosts, false, time.Hour)
		if err != nil || n != want || !slices.Equal(ids, []string{"filewise-campaign/c/inserts@db1"}) {
			t.Errorf("start %d: %d started of %v, want %d: %v", again, n, ids, want, err)
		}
	}
}

// ended is a Temporal whose only job a user has ended; its host has a worker.
type ended struct {
	workflowservice.UnimplementedWorkflowServiceServer
	began atomic.Pointer[workflowservice.StartWorkflowExecutionRequest]
}

func (*ended) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (*ended) DescribeWorkflowExecution(context.Context, *workflowservice.DescribeWorkflowExecutionRequest) (
	*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
		Status: enums.WORKFLOW_EXECUTION_STATUS_TERMINATED}}, nil
}

func (*ended) GetWorkflowExecutionHistory(context.Context, *workflowservice.GetWorkflowExecutionHistoryRequest) (
	*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
	input, err := converter.GetDefaultDataConverter().ToPayloads(State{Job: job("inserts")})
	return &workflowservice.GetWorkflowExecutionHistoryResponse{History: &historypb.History{Events: []*historypb.HistoryEvent{{EventId: 1,
		EventType: enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{Input: input}}}}}}, err
}

func (*ended) ListWorkflowExecutions(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (
	*workflowservice.ListWorkflowExecutionsResponse, error) {
	offered, err := converter.GetDefaultDataConverter().ToPayload(Offer{Host: "db1"})
	return &workflowservice.ListWorkflowExecutionsResponse{Executions: []*workflowpb.WorkflowExecutionInfo{{
		Execution: &commonpb.WorkflowExecution{WorkflowId: hostPrefix + "db1"},
		Memo:      &commonpb.Memo{Fields: map[string]*commonpb.Payload{memoOffer: offered}}}}}, err
}

func (*ended) DescribeTaskQueue(context.Context, *workflowservice.DescribeTaskQueueRequest) (
	*workflowservice.DescribeTaskQueueResponse, error) {
	return &workflowservice.DescribeTaskQueueResponse{Pollers: []*taskqueue.PollerInfo{{LastAccessTime: timestamppb.Now()}}}, nil
}

func (e *ended) StartWorkflowExecution(_ context.Context, r *workflowservice.StartWorkflowExecutionRequest) (
	*workflowservice.StartWorkflowExecutionResponse, error) {
	e.began.Store(r)
	return &workflowservice.StartWorkflowExecutionResponse{RunId: "again"}, nil
}

// A job that was ended on Temporal has failed, in words, and is begun again by resume.
func TestOrderIsBegunAgain(t *testing.T) {
	there := new(ended)
	c := Campaigns{Client: dialed(t, there), silent: new(atomic.Bool), how: worker.WorkflowReplayerOptions{
		DataConverter: converter.GetDefaultDataConverter(), FailureConverter: temporal.GetDefaultFailureConverter()}}
	ids := []string{job("inserts").id()}
	all, err := c.States(t.Context(), ids)
	if err != nil || all[0].Condition != Failed || !strings.Contains(all[0].Words(), "ended on Temporal (terminated)") || !all[0].Ended() {
		t.Errorf("it stands as %+v, %v", all, err)
	}
	for i, word := range []string{wordPause, wordResume} { // only the second begins it
		if n, err := c.Tell(t.Context(), ids, word); err != nil || n != i || (there.began.Load() != nil) != (i == 1) {
			t.Errorf("%s: %d jobs, %v", word, n, err)
		}
	}
	if r := there.began.Load(); r.GetWorkflowId() != ids[0] ||
		r.GetWorkflowIdReusePolicy() != enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE {
		t.Errorf("begun again: %v", r)
	}
	ending := State{Condition: Done, Ending: true}
	if ending.Ended() {
		t.Error("a job whose results are on their way has ended")
	}
}

// A campaign that has not measured all ends as a run does that could not; what Temporal refuses is not mended by starting it.
func TestCampaignThatFails(t *testing.T) {
	states := []State{{Condition: Done}, {Condition: Stopped}}
	if err := Unmeasured(states); err != nil {
		t.Errorf("all were measured or stopped: %v", err)
	}
	err := Unmeasured(append(states, State{Condition: Failed}, State{Condition: Lost}))
	if filewise.CodeOf(err) != filewise.CodeTrials || !strings.Contains(err.Error(), ": 2 of 4") {
		t.Errorf("two were not measured: %v", err)
	}
	if text := cause(temporal.NewApplicationError("Encoded failure", "")); !strings.Contains(text, KeyVariable) {
		t.Errorf("without the key that a worker has it says %q", text)
	}
	for word, err := range map[string]error{"namespace create --namespace nowhere": serviceerror.NewNamespaceNotFound("nowhere"),
		"API key": serviceerror.NewPermissionDenied("no", "")} {
		if err := unreachable(err); filewise.CodeOf(err) != filewise.CodePreflight || !strings.Contains(filewise.RemedyOf(err), word) {
			t.Errorf("%v: do %q, want %q", err, filewise.RemedyOf(err), word)
		}
	}
}

// Any host means one that works and has the engine, and the volumes by name if one has them. The experiments of a
// campaign take turns, and remain where they are when it is given again before all of it is known.
func TestAnyHost(t *testing.T) {
	hosts := []Present{
		{Offer: Offer{Host: "away", Engines: []string{"sqlite", "mariadb"}}},
		{Offer: Offer{Host: "db1", Engines: []string{"sqlite"}}, Working: true},
		{Offer: Offer{Host: "db2", Engines: []string{"sqlite", "mariadb"}, Volumes: map[string]string{"fast": "/nvme"}}, Working: true},
	}
	s := Study{Engines: map[string]string{"a": "sqlite", "b": "sqlite", "c": "mariadb", "known": "sqlite", "none": "oracle", "fast": "sqlite"},
		Volumes: map[string][]string{"fast": {"fast"}, "b": {"nowhere"}}}
	ask := func(campaign string, known ...string) map[string]string {
		on, got := s.anyOf(campaign, known, hosts), map[string]string{}
		for _, e := range []string{"a", "b", "c", "known", "fast", "external", "none"} {
			names, err := on(e)
			if (e == "none") != (filewise.CodeOf(err) == filewise.CodeNotFound) || err == nil && len(names) != 1 {
				t.Errorf("%s is measured on %v: %v", e, names, err)
			}
			got[e] = strings.Join(names, "")
		}
		return got
	}
	begins := map[string]bool{}
	for _, campaign := range []string{"storage", "night", "san", "one", "two", "three"} {
		got := ask(campaign, "filewise-campaign/"+campaign+"/known@gone")
		again := ask(campaign, "filewise-campaign/"+campaign+"/known@gone", "filewise-campaign/"+campaign+"/a@"+got["a"])
		if got["a"] == got["b"] || got["c"] != "db2" || got["fast"] != "db2" || got["known"] != "gone" || !maps.Equal(got, again) {
			t.Errorf("%s: %v, and again %v", campaign, got, again)
		}
		begins[got["a"]] = true
	}
	if len(begins) != 2 {
		t.Errorf("all campaigns begin on %v", begins)
	}
}

// A Temporal that is away ends no trial: only a request to end it does, and gets what there is.
func TestTemporalAwayEndsNoTrial(t *testing.T) {
	b := &bench{site: site(t), idle: time.Minute}
	if s, err := b.Next(t.Context(), Request{Job: job("inserts")}); err != nil || s.Trials == 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	for _, c := range []struct {
		cause error
		ends  bool
	}{{serviceerror.NewUnavailable("away"), false}, {serviceerror.NewNotFound("given up"), false}, {context.Canceled, true}} {
		m, err := b.begin(job("inserts"))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(c.cause)
		s, err := b.Next(ctx, Request{Job: job("inserts"), After: 100})
		if m.over() != c.ends || (err == nil && s.Trials > 0 && s.Doing == "") != c.ends {
			t.Errorf("%v: the run is over: %v; %+v, %v", c.cause, m.over(), s, err)
		}
	}
}

// A driver goes on if one heartbeat did not reach Temporal, and ends if it is stopped, or if no heartbeat arrives any
// more.
func TestDriverBeats(t *testing.T) {
	away := serviceerror.NewUnavailable("away")
	for _, c := range []struct {
		said []error // the last one again and again
		ends time.Duration
	}{
		{[]error{nil}, time.Minute},
		{[]error{away, away, away, nil}, time.Minute},
		{[]error{nil, temporal.NewCanceledError()}, 2 * driverBeat},
		{[]error{nil, serviceerror.NewNotFound("given up")}, 2 * driverBeat},
		{[]error{nil, away}, driverBeat + driverWithin + driverBeat},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, end := context.WithTimeout(t.Context(), time.Minute)
			began, n := time.Now(), 0
			beat(ctx, end, func(context.Context) error { n++; return c.said[min(n, len(c.said))-1] })
			if took := time.Since(began); took != c.ends {
				t.Errorf("%v: it ends after %v, want %v", c.said, took, c.ends)
			}
		})
	}
}
