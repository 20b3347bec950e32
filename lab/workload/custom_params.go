package workload

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"filewise"
)

// Generators of parameters.
const (
	DrawInt        = "int"        // a whole number from From to To, uniform
	DrawZipf       = "zipf"       // from From to To; the n-th as likely as 1/n^Theta
	DrawNURand     = "nurand"     // non-uniform as in TPC-C, clause 2.1.6
	DrawSequential = "sequential" // From, From + 1, … over all connections, each value once
	DrawRange      = "range"      // uniform in the connection's own part of From … To
	DrawFloat      = "float"      // from Low to below High
	DrawText       = "text"       // From to To characters of the alphabet
	DrawWord       = "word"       // From to To lower-case letters, which no search syntax treats specially
	DrawUUID       = "uuid"       // random, version 4
	DrawChoice     = "choice"     // one of Choices, by Weights
	DrawTimestamp  = "timestamp"  // from Start to below End, in whole seconds of UTC
	DrawWorker     = "worker"     // the connection's number, from 0
	DrawOp         = "op"         // the operation's number on its connection, from 0
)

// Parameter is a value that each operation draws again. The value follows from the seed, the connection and the
// operation's number alone.
type Parameter struct {
	Name    string    `json:"name"`
	Draw    string    `json:"draw"`
	From    int64     `json:"from,omitempty"`
	To      int64     `json:"to,omitempty"`
	A       int64     `json:"a,omitempty"`     // for nurand
	Theta   float64   `json:"theta,omitempty"` // for zipf
	Low     float64   `json:"low,omitempty"`
	High    float64   `json:"high,omitempty"`
	Choices []string  `json:"choices,omitempty"`
	Weights []int     `json:"weights,omitempty"` // nil means equal weights
	Start   time.Time `json:"start,omitzero"`
	End     time.Time `json:"end,omitzero"`
	Line    int       `json:"line,omitempty"` // line in the study file
}

// Think is the pause of a connection before each operation in a closed loop.
type Think struct {
	Mean time.Duration `json:"mean_ns,omitempty"`
	// Exponential makes the pauses vary exponentially, cut at ten times their mean. If false, all pauses are equal.
	Exponential bool `json:"exponential,omitempty"`
}

// maxLetters bounds a text parameter.
const maxLetters = 1 << 20

// draw writes one value of a parameter.
type draw func(to filewise.RowWriter, d *dice, connections int64, worker int, i int64)

// chance reports whether the parameter's values are random.
func (p Parameter) chance() bool {
	return p.Draw != DrawSequential && p.Draw != DrawWorker && p.Draw != DrawOp
}

// prepare creates the generators of all parameters.
func (w *custom) prepare() error {
	for _, p := range w.Parameters {
		make, err := p.generator(w.seed)
		if err != nil {
			return err
		}
		w.draws = append(w.draws, make)
	}
	return nil
}

// generator returns the parameter's generator. It returns an error if the parameter's settings are invalid.
func (p Parameter) generator(seed uint64) (draw, error) {
	wrong := func(remedy, format string, args ...any) (draw, error) {
		return nil, filewise.Errorf(filewise.CodeUsage, remedy, "custom: parameter %s: %s", p.Name, fmt.Sprintf(format, args...))
	}
	span := uint64(p.To) - uint64(p.From)
	switch p.Draw {
	case DrawInt, DrawZipf, DrawNURand, DrawRange, DrawText, DrawWord:
		if p.From > p.To {
			return wrong("give from and to in order", "from %d is above to %d", p.From, p.To)
		}
		if span >= 1<<62 {
			return wrong("give a smaller one", "the range from %d to %d is too large", p.From, p.To)
		}
	}
	switch p.Draw {
	case DrawInt:
		return func(to filewise.RowWriter, d *dice, _ int64, _ int, _ int64) { to.Int(d.between(p.From, p.To)) }, nil
	case DrawZipf:
		if !(p.Theta > 0 && p.Theta <= 10) {
			return wrong("give a theta such as 0.99", "theta %v is not above 0 and at most 10", p.Theta)
		}
		z := newZipf(int64(span)+1, p.Theta)
		return func(to filewise.RowWriter, d *dice, _ int64, _ int, _ int64) { to.Int(p.From - 1 + z.draw(d)) }, nil
	case DrawNURand:
		return p.nuRand(seed, wrong)
	case DrawSequential:
		return func(to filewise.RowWriter, _ *dice, connections int64, worker int, i int64) {
			to.Int(p.From + i*connections + int64(worker))
		}, nil
	case DrawRange:
		return p.ownRange, nil
	case DrawFloat:
		if !(p.Low < p.High) || math.IsInf(p.High-p.Low, 0) {
			return wrong("give from and to in order", "from %v is not below to %v", p.Low, p.High)
		}
		return func(to filewise.RowWriter, d *dice, _ int64, _ int, _ int64) {
			to.Float(p.Low + d.fraction()*(p.High-p.Low))
		}, nil
	case DrawUUID:
		return randomUUID, nil
	case DrawText, DrawWord:
		if p.From < 0 || p.To > maxLetters {
			return wrong(fmt.Sprintf("give 0 to %d letters", maxLetters), "a text of %d to %d letters", p.From, p.To)
		}
		if p.Draw == DrawWord {
			return p.word, nil
		}
		return p.text, nil
	case DrawChoice:
		return p.choice(wrong)
	case DrawTimestamp:
		if !p.Start.Before(p.End) {
			return wrong("give from and to in order", "from %v is not before to %v", p.Start, p.End)
		}
		return p.moment, nil
	case DrawWorker:
		return func(to filewise.RowWriter, _ *dice, _ int64, worker int, _ int64) { to.Int(int64(worker)) }, nil
	case DrawOp:
		return func(to filewise.RowWriter, _ *dice, _ int64, _ int, i int64) { to.Int(i) }, nil
	}
	return wrong("see docs/study-files.md", "there is no generator %q", p.Draw)
}

// randomUUID writes a UUID of version 4 (RFC 9562, 5.4).
func randomUUID(to filewise.RowWriter, d *dice, _ int64, _ int, _ int64) {
	high, low := d.Uint64(), d.Uint64()
	to.Text(fmt.Appendf(nil, "%08x-%04x-4%03x-%04x-%012x", high>>32, high>>16&0xffff, high&0xfff, low>>48&0x3fff|0x8000, low&(1<<48-1)))
}

// nuRand returns the generator of ((rand(0, A) | rand(from, to)) + C) mod (to − from + 1) + from. C is drawn once from
// the seed.
func (p Parameter) nuRand(seed uint64, wrong func(string, string, ...any) (draw, error)) (draw, error) {
	if p.A < 1 || p.A > 1<<40 || p.From < 0 {
		return wrong("the specification has 255, 1023 and 8191", "a %d, from %d: a is at least 1, from at least 0", p.A, p.From)
	}
	c := int64(mix(seed^mix(saltCustom+uint64(p.A))) % uint64(p.A+1))
	return func(to filewise.RowWriter, d *dice, _ int64, _ int, _ int64) {
		x := d.between(0, p.A) | d.between(p.From, p.To)
		to.Int((x+c)%(p.To-p.From+1) + p.From)
	}, nil
}

// ownRange writes a value from the connection's own part of the range, which is divided evenly. If there are more
// connections than values, connections share a value.
func (p Parameter) ownRange(to filewise.RowWriter, d *dice, connections int64, worker int, _ int64) {
	n, w := p.To-p.From+1, int64(worker)
	each := n / connections
	if each == 0 {
		to.Int(p.From + w%n)
		return
	}
	first := p.From + w*each
	last := first + each - 1
	if w == connections-1 {
		last = p.To
	}
	to.Int(d.between(first, last))
}

func (p Parameter) text(to filewise.RowWriter, d *dice, _ int64, _ int, _ int64) {
	text := make([]byte, d.between(p.From, p.To))
	var bits uint64
	for i := range text {
		if i%10 == 0 {
			bits = d.Uint64()
		}
		text[i] = alphabet[bits&63]
		bits >>= 6
	}
	to.Text(text)
}

func (p Parameter) word(to filewise.RowWriter, d *dice, _ int64, _ int, _ int64) {
	text := make([]byte, d.between(p.From, p.To))
	for i := range text {
		text[i] = byte('a' + d.between(0, 25))
	}
	to.Text(text)
}

func (p Parameter) moment(to filewise.RowWriter, d *dice, _ int64, _ int, _ int64) {
	at := p.Start.Add(time.Duration(d.between(0, int64(p.End.Sub(p.Start)/time.Second)-1)) * time.Second)
	to.Text(at.UTC().AppendFormat(nil, "2006-01-02 15:04:05"))
}

// choice returns the generator of one of the choices. If all choices are whole numbers, it writes numbers, otherwise
// text.
func (p Parameter) choice(wrong func(string, string, ...any) (draw, error)) (draw, error) {
	if len(p.Choices) == 0 || len(p.Weights) > 0 && len(p.Weights) != len(p.Choices) {
		return wrong("list them", "%d choices with %d weights", len(p.Choices), len(p.Weights))
	}
	var bounds []int64
	total := int64(0)
	for i := range p.Choices {
		weight := 1
		if len(p.Weights) > 0 {
			weight = p.Weights[i]
		}
		if weight < 0 || weight > 1_000_000 {
			return wrong("give weights of 0 to 1000000", "the weight %d of %q", weight, p.Choices[i])
		}
		total += int64(weight)
		bounds = append(bounds, total)
	}
	if total == 0 {
		return wrong("give one a weight above 0", "no choice has a weight")
	}
	numbers := make([]int64, len(p.Choices))
	whole := true
	for i, c := range p.Choices {
		n, err := strconv.ParseInt(c, 10, 64)
		numbers[i], whole = n, whole && err == nil
	}
	return func(to filewise.RowWriter, d *dice, _ int64, _ int, _ int64) {
		at, n := 0, d.between(1, total)
		for bounds[at] < n {
			at++
		}
		if whole {
			to.Int(numbers[at])
			return
		}
		to.Text([]byte(p.Choices[at]))
	}, nil
}

// saltCustom separates the random numbers of workload custom from the other workloads'.
const saltCustom = 7 << 40

// customArgs generates the arguments of a phase's operations.
type customArgs struct {
	w           *custom
	phase       uint64
	connections int64
}

// stream returns the seed of an operation's random numbers.
func (a customArgs) stream(kind uint64, worker int, i int64) (uint64, uint64) {
	return mix(a.w.seed ^ mix(saltCustom+a.phase<<8+kind)), mix(mix(uint64(worker)) + uint64(i))
}

// TypeOf returns the type of operation i of the worker.
func (a customArgs) TypeOf(worker int, i int64) int {
	if len(a.w.bounds) == 1 {
		return 0
	}
	hash := func(of uint64) uint64 { x, y := a.stream(0, worker, int64(of)); return mix(x ^ y) }
	share := a.w.total // weight per card of the deck; chance decides within a card, so that rare types occur too
	n := (card(i, hash)*share+hash(uint64(i)+1<<62)%share)/100 + 1
	for at, bound := range a.w.bounds {
		if n <= bound {
			return at
		}
	}
	return len(a.w.bounds) - 1
}

// ArgsAgain appends arguments for another attempt. Random values are drawn again; other values stay.
func (a customArgs) ArgsAgain(dst []any, worker int, i int64, attempt int) []any {
	to := boxes{dst}
	a.draw(&to, worker, i, uint64(attempt))
	return to.all
}

// WriteArgs writes the parameters that the operation's type uses, in the order of the parameters.
func (a customArgs) WriteArgs(to filewise.RowWriter, worker int, i int64) {
	a.draw(to, worker, i, 0)
}

func (a customArgs) draw(to filewise.RowWriter, worker int, i int64, attempt uint64) {
	var d dice
	d.Seed(a.stream(1+attempt<<16, worker, i))
	for _, p := range a.w.needed[a.TypeOf(worker, i)] {
		a.w.draws[p](to, &d, a.connections, worker, i)
	}
}

// Args appends the values that WriteArgs writes.
func (a customArgs) Args(dst []any, worker int, i int64) []any {
	to := boxes{dst}
	a.WriteArgs(&to, worker, i)
	return to.all
}

// Pool returns "", because the client sends all arguments.
func (customArgs) Pool() string { return "" }

// pause returns the pause before operation i.
func (a customArgs) pause(worker int, i int64) time.Duration {
	t := a.w.Think
	if !t.Exponential {
		return t.Mean
	}
	var d dice
	d.Seed(a.stream(2, worker, i))
	return time.Duration(min(d.exponential(), 10) * float64(t.Mean))
}

// zipf draws ranks 1 … n of Zipf's distribution without a table. It uses rejection-inversion (Hörmann and Derflinger
// 1996, "Rejection-inversion to generate variates from monotone discrete distributions").
type zipf struct {
	n, theta       float64
	low, high, cut float64
}

func newZipf(n int64, theta float64) zipf {
	z := zipf{n: float64(n), theta: theta}
	z.low, z.high = z.integral(1.5)-1, z.integral(z.n+0.5)
	z.cut = 2 - z.inverse(z.integral(2.5)-z.density(2))
	return z
}

func (z zipf) draw(d *dice) int64 {
	for {
		u := z.high + d.fraction()*(z.low-z.high)
		x := z.inverse(u)
		k := min(max(math.Floor(x+0.5), 1), z.n)
		if k-x <= z.cut || u >= z.integral(k+0.5)-z.density(k) {
			return int64(k)
		}
	}
}

func (z zipf) density(x float64) float64 { return math.Exp(-z.theta * math.Log(x)) }

// integral returns the integral of the density: (x^(1−θ) − 1)/(1−θ), or ln x for θ = 1.
func (z zipf) integral(x float64) float64 {
	l := math.Log(x)
	return l * ratio(math.Expm1, (1-z.theta)*l)
}

func (z zipf) inverse(u float64) float64 {
	t := max(u*(1-z.theta), -1)
	return math.Exp(u * ratio(math.Log1p, t))
}

// ratio returns f(x)/x. Its limit at 0 is 1.
func ratio(f func(float64) float64, x float64) float64 {
	if math.Abs(x) < 1e-12 {
		return 1
	}
	return f(x) / x
}
