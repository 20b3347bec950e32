package main

// The machines. Their parameters were fixed once, before this program's method was tried on them, so that the articles'
// ways err as published: five runs in a row claim a difference between equal layouts in 13, 77, 65 and 50 % of the
// experiments. The parameters must not be changed to suit a result.
func quiet(cv float64) world { return world{noise: cv} }

func drifting(cv float64) world {
	w := quiet(cv)
	w.drift = 0.05
	return w
}

func shared(cv float64) world {
	w := drifting(cv)
	w.steps, w.step = 0.05, 0.10
	w.slow = all(0.05)
	return w
}

// stalling returns a machine on which one layout is slow more often than the others.
func stalling() world {
	w := quiet(0.02)
	w.slow = [layouts]float64{0.05, 0.05, 0.15, 0.05, 0.05}
	return w
}

// unequal returns a machine on which the layouts' noise differs by a factor of ten.
func unequal() world {
	w := drifting(0.02)
	w.unequal = [layouts]float64{0.01, 0.02, 0.03, 0.06, 0.10}
	return w
}

// placed returns a machine on which builds of one layout differ permanently, by 3 %.
func placed(reused int) world {
	w := quiet(0.02)
	w.peculiar, w.builds = 0.03, reused
	return w
}

func all(x float64) (out [layouts]float64) {
	for j := range out {
		out[j] = x
	}
	return out
}

// The planted truths, on the log scale.
var (
	randal   = [layouts]float64{0, -0.03, 0.025, 0.06, 0.035}        // 8 files +6 %, 2 files −3 %
	shea     = [layouts]float64{0, 0.1823, 0.3365, 0.4055, 0.3920}   // +20, +40, +50, +48 %
	two      = [layouts]float64{0, 0, 0.0198, 0, 0}                  // +2 %: as large as the margin
	reversed = [layouts]float64{0, -0.0619, -0.1278, -0.2877, -0.69} // 1 file is best: −6 to −50 %
)

func (w world) named(name, about string) world {
	w.name, w.about = name, about
	return w
}

func (w world) with(effects [layouts]float64) world {
	w.effects = effects
	return w
}

// within sets the target of the mean number of trials.
func (w world) within(trials float64) world {
	w.limit = trials
	return w
}

// calibrated adds a probe before each trial, accurate to 0.5 % around the machine's state.
func (w world) calibrated() world {
	w.probe = 0.005
	return w
}

// cells makes each block a session in which every layout has ten slices of a tenth of a trial.
func (w world) cells() world {
	w.slices = 10
	return w
}

// worlds returns all worlds, in the order of the table.
func worlds() []world {
	forgetful := placed(4)
	forgetful.forget = true
	one := placed(0).cells()
	one.single = true
	return []world{
		quiet(0.02).named("quiet", "CV 2 %, nothing differs"),
		drifting(0.02).named("drift", "the machine drifts"),
		shared(0.02).named("shared", "drift, steps, 5 % of runs 30 % slow"),
		shared(0.05).named("shared-5", "the same, CV 5 %"),
		shared(0.10).named("shared-10", "the same, CV 10 %"),
		shared(0.05).calibrated().named("shared-5, calibrated", "with a probe before each trial"),
		stalling().named("stalls", "of one layout 15 % of runs slow"),
		unequal().named("unequal", "drift, CV 1 to 10 % by layout"),
		placed(0).named("builds anew", "builds differ by 3 %"),
		placed(4).named("builds reused", "4 of each layout, in turn"),
		forgetful.named("builds forgotten", "the same, judged as if new (no target)"),
		quiet(0.02).with(randal).within(34).named("quiet +6 %", "Randal's figures"),
		drifting(0.02).with(randal).within(52).named("drift +6 %", ""),
		shared(0.02).with(randal).within(70).named("shared +6 %", ""),
		shared(0.05).with(randal).within(76).named("shared-5 +6 %", ""),
		quiet(0.02).calibrated().with(randal).within(33).named("quiet +6 %, calibrated", ""),
		drifting(0.02).calibrated().with(randal).within(36).named("drift +6 %, calibrated", ""),
		shared(0.02).calibrated().with(randal).within(53).named("shared +6 %, calibrated", ""),
		shared(0.05).calibrated().with(randal).within(76).named("shared-5 +6 %, calibrated", ""),
		drifting(0.02).cells().with(randal).named("drift +6 %, cells", "sessions of ten slices each"),
		shared(0.02).cells().with(randal).named("shared +6 %, cells", ""),
		shared(0.05).cells().with(randal).named("shared-5 +6 %, cells", ""),
		shared(0.05).cells().named("shared-5, cells", "nothing differs"),
		one.named("one session", "builds differ by 3 %, one session by its slices (no target)"),
		// The page's 16 and 20 trials are for rules 1: rules 2 compare nothing before block 6. Rules 3 claim nothing, and
		// drop no layout, before block 6 of 5 layouts: 30 trials, and in a few experiments one block more.
		quiet(0.02).with(shea).within(32).named("quiet +50 %", "Shea's figures"),
		drifting(0.02).with(shea).within(32).named("drift +50 %", ""),
		shared(0.02).with(shea).within(33).named("shared +50 %", ""),
		shared(0.05).with(shea).within(51).named("shared-5 +50 %", ""),
		drifting(0.02).with(two).named("drift +2 %", "as large as the margin"),
		drifting(0.02).with(reversed).named("drift reversed", "1 file is best, by 6 to 50 %"),
		unequal().with(randal).named("unequal +6 %", ""),
		placed(4).with(randal).named("builds reused +6 %", ""),
	}
}
