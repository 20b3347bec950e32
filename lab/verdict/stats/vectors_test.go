package stats

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"testing"

	"filewise/lab/verdict/internal/vectorstest"
)

// vectorTests has one test per group of stat-vectors.json that is about classical
// statistics; those about the method are in package verdict.
var vectorTests = map[string]func(*testing.T, json.RawMessage){
	"student_t":                testStudent,
	"paired_log_t":             testPaired,
	"welch_log_t":              testWelch,
	"mann_whitney":             testMannWhitney,
	"wilcoxon_signed_rank":     testWilcoxon,
	"sign_flip_exact":          testSignFlip,
	"sign_flip_exact2":         testSignFlip,
	"rcb_anova":                testAnova,
	"hsu_mcb":                  testBest,
	"dunnett_quantiles":        testDunnettQuantiles,
	"dunnett_formula":          testDunnettFormula,
	"tukey_quantiles":          testTukey,
	"multiplicity":             testMultiplicity,
	"tost_paired":              testTOST,
	"block_randomisation_maxT": testMaxT,
	"robust_location":          testLocation,
	"autocorrelation":          testAutocorrelation,
	"mser5":                    testMSER,
	"steady_state_check":       testSteady,
	"usl_fit":                  testUSL,
	"incomplete_two_way_ls":    testIncomplete,
	"ancova_calibration":       testAncova,
	"kalibera_jones":           testKalibera,
	"t_mixture_cs":             testMixture,
}

const methodVectors = 5 // groups that packages verdict and boundary test

func TestVectors(t *testing.T) {
	vectorstest.Run(t, "../testdata/stat-vectors.json", methodVectors, vectorTests)
}

var decode, near, relative, nearAll = vectorstest.Decode, vectorstest.Near, vectorstest.Relative, vectorstest.NearAll

const tight = 1e-9

// must unwraps a result whose error would be a failure of the test.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func limits(i Interval) []float64 { return []float64{i.Lo, i.Hi} }

// percent converts a log effect to percent: 100(eˣ−1).
func percent(logEffect float64) float64 { return 100 * math.Expm1(logEffect) }

func percents(i Interval) []float64 { return []float64{percent(i.Lo), percent(i.Hi)} }

func testStudent(t *testing.T, data json.RawMessage) {
	var v struct {
		Quantile, CDF []struct{ P, DF, X float64 }
	}
	decode(t, data, &v)
	for _, c := range v.Quantile {
		relative(t, "quantile", TQuantile(c.P, c.DF), c.X, tight)
	}
	for _, c := range v.CDF {
		near(t, "cdf", TCDF(c.X, c.DF), c.P, tight)
	}
}

func testPaired(t *testing.T, data json.RawMessage) {
	var v struct {
		Baseline, Treatment  []float64
		Mean                 float64 `json:"mean_log"`
		SD                   float64 `json:"sd_log"`
		N, SE, T, DF, P, Pct float64
		CI95, CI90, CI95Pct  []float64
		Log95                []float64 `json:"ci95_log"`
		Log90                []float64 `json:"ci90_log"`
		Percent95            []float64 `json:"ci95_pct"`
	}
	decode(t, data, &v)
	r := must(PairedLogT(v.Baseline, v.Treatment))
	nearAll(t, "paired",
		[]float64{float64(r.N), r.Effect, r.SE * math.Sqrt(float64(r.N)), r.SE, r.T, r.DF, percent(r.Effect), percent(r.Effect)},
		[]float64{v.N, v.Mean, v.SD, v.SE, v.T, v.DF, v.Pct, v.Pct}, tight)
	near(t, "p", r.P, v.P, tight)
	nearAll(t, "95 %", limits(r.CI(0.95)), v.Log95, tight)
	nearAll(t, "90 %", limits(r.CI(0.90)), v.Log90, tight)
	nearAll(t, "95 % in percent", percents(r.CI(0.95)), v.Percent95, tight)
}

func testWelch(t *testing.T, data json.RawMessage) {
	var v struct {
		X, Y     []float64
		T, DF, P float64
		CI95     []float64
	}
	decode(t, data, &v)
	r := must(WelchLogT(v.X, v.Y))
	nearAll(t, "welch", []float64{r.T, r.DF}, []float64{v.T, v.DF}, tight)
	near(t, "p", r.P, v.P, tight)
	nearAll(t, "95 %", limits(r.CI(0.95)), v.CI95, tight)
}

func testMannWhitney(t *testing.T, data json.RawMessage) {
	var v struct {
		X, Y []float64
		U    float64
		P    float64            `json:"p_exact"`
		Min  map[string]float64 `json:"min_p_by_n"`
		Ties struct {
			X, Y []float64
			U    float64
			P    float64 `json:"p_normal_tie_corrected_continuity"`
		}
	}
	decode(t, data, &v)
	r := must(MannWhitney(v.X, v.Y))
	relative(t, "U", r.Statistic, v.U, tight)
	near(t, "p", r.P, v.P, tight)
	for text, want := range v.Min {
		n := must(strconv.Atoi(text))
		var low, high []float64
		for i := range n {
			low, high = append(low, float64(i)), append(high, float64(n+i))
		}
		r := must(MannWhitney(low, high))
		if !r.Exact {
			t.Errorf("n = %d is not exact", n)
		}
		near(t, "least p", r.P, want, tight)
	}
	r = must(MannWhitney(v.Ties.X, v.Ties.Y))
	relative(t, "U with ties", r.Statistic, v.Ties.U, tight)
	near(t, "p with ties", r.P, v.Ties.P, tight)
}

func testWilcoxon(t *testing.T, data json.RawMessage) {
	var cases []struct {
		D, CI    []float64
		W        *float64
		P        float64   `json:"p_exact"`
		HL       float64   `json:"hodges_lehmann"`
		Walsh    []float64 `json:"ci_walsh"`
		Achieved float64   `json:"achieved_conf"`
	}
	decode(t, data, &cases)
	for _, v := range cases {
		h := must(SignedRankInterval(v.D, 0.95))
		if h.OK != (v.Walsh != nil) {
			t.Errorf("interval exists: %v", h.OK)
		}
		if v.W == nil {
			continue
		}
		r := must(WilcoxonSignedRank(v.D))
		near(t, "W", r.Statistic, *v.W, tight)
		near(t, "p", r.P, v.P, tight)
		relative(t, "estimate", h.Estimate, v.HL, tight)
		nearAll(t, "interval", limits(h.CI), v.Walsh, tight)
		near(t, "achieved", h.Achieved, v.Achieved, tight)
	}
}

func testSignFlip(t *testing.T, data json.RawMessage) {
	var v struct {
		D []float64
		P float64
	}
	decode(t, data, &v)
	near(t, "p", must(SignFlip(v.D)), v.P, tight)
}

func testAnova(t *testing.T, data json.RawMessage) {
	var v struct {
		TPS        [][]float64
		Blocks     []float64 `json:"log_block_means"`
		Arms       []float64 `json:"log_arm_means"`
		DF, MSE, F float64
		PF         float64   `json:"p_F"`
		SE         float64   `json:"se_contrast"`
		Contrasts  []float64 `json:"contrasts_vs_1"`
		T          []float64
		P          []float64   `json:"p_unadj"`
		Dunnett    []float64   `json:"p_dunnett"`
		Critical   float64     `json:"dunnett_two_sided_95"`
		CI         [][]float64 `json:"ci_dunnett_log"`
		CIPercent  [][]float64 `json:"ci_dunnett_pct"`
		Friedman   struct{ Chi2, P float64 }
	}
	decode(t, data, &v)
	r := must(RCBAnova(v.TPS))
	nearAll(t, "block means", r.BlockMeans, v.Blocks, tight)
	nearAll(t, "arm means", r.ArmMeans, v.Arms, tight)
	nearAll(t, "anova", []float64{r.DF, r.MSE, r.SE, r.F}, []float64{v.DF, v.MSE, v.SE, v.F}, tight)
	near(t, "p", r.P, v.PF, tight)
	relative(t, "critical", DunnettQuantile(0.95, 4, r.DF, TwoSided), v.Critical, tight)
	for i, c := range must(r.Dunnett(0, 0.95)) {
		nearAll(t, "contrast", []float64{c.Effect, c.T}, []float64{v.Contrasts[i], v.T[i]}, tight)
		near(t, "p", c.P, v.P[i], tight)
		near(t, "Dunnett's p", c.DunnettP, v.Dunnett[i], tight)
		nearAll(t, "interval", limits(c.CI), v.CI[i], 1e-7)
		nearAll(t, "interval in percent", percents(c.CI), v.CIPercent[i], 1e-7)
	}
	chi2, p, err := Friedman(v.TPS)
	if err != nil {
		t.Fatal(err)
	}
	relative(t, "Friedman", chi2, v.Friedman.Chi2, tight)
	near(t, "Friedman's p", p, v.Friedman.P, tight)
}

func testBest(t *testing.T, data json.RawMessage) {
	var v struct {
		Critical float64     `json:"dunnett_one_sided_95"`
		CI       [][]float64 `json:"interval_theta_i_minus_best_other"`
		Regret   []float64   `json:"regret_upper_bound"`
	}
	decode(t, data, &v)
	var anova struct{ TPS [][]float64 }
	decode(t, vectorstest.Read(t, "../testdata/stat-vectors.json")["rcb_anova"], &anova)
	r := must(RCBAnova(anova.TPS))
	relative(t, "critical", DunnettQuantile(0.95, 4, r.DF, OneSided), v.Critical, tight)
	for i, c := range must(r.CompareWithBest(0.95)) {
		nearAll(t, "interval", limits(c.CI), v.CI[i], tight)
		relative(t, "regret", c.Regret, v.Regret[i], tight)
	}
}

type dunnettVector struct {
	K   int
	DF  json.RawMessage
	P   float64
	Two float64 `json:"two_sided"`
	One float64 `json:"one_sided"`
}

func (v dunnettVector) df() float64 {
	if string(v.DF) == `"inf"` {
		return math.Inf(1)
	}
	return must(strconv.ParseFloat(string(v.DF), 64))
}

func testDunnettQuantiles(t *testing.T, data json.RawMessage) {
	var cases []dunnettVector
	decode(t, data, &cases)
	for _, v := range cases {
		relative(t, "two-sided", DunnettQuantile(v.P, v.K, v.df(), TwoSided), v.Two, 1e-7)
		relative(t, "one-sided", DunnettQuantile(v.P, v.K, v.df(), OneSided), v.One, 1e-7)
	}
}

// testDunnettFormula checks the distribution function itself, at the
// quantiles of the other group, to the tolerance that the formula names.
func testDunnettFormula(t *testing.T, data json.RawMessage) {
	var formula string
	decode(t, data, &formula)
	var cases []dunnettVector
	decode(t, vectorstest.Read(t, "../testdata/stat-vectors.json")["dunnett_quantiles"], &cases)
	for _, v := range cases {
		near(t, "two-sided", DunnettCDF(v.Two, v.K, v.df(), TwoSided), v.P, 1e-7)
		near(t, "one-sided", DunnettCDF(v.One, v.K, v.df(), OneSided), v.P, 1e-7)
	}
}

func testTukey(t *testing.T, data json.RawMessage) {
	var cases []struct {
		K        int
		DF, P, Q float64
	}
	decode(t, data, &cases)
	for _, v := range cases {
		relative(t, "quantile", TukeyQuantile(v.P, v.K, v.DF), v.Q, tight)
	}
}

func testMultiplicity(t *testing.T, data json.RawMessage) {
	var v struct{ P, Holm, Bonferroni, BH []float64 }
	decode(t, data, &v)
	nearAll(t, "Holm", must(Holm(v.P)), v.Holm, tight)
	nearAll(t, "Bonferroni", must(Bonferroni(v.P)), v.Bonferroni, tight)
	nearAll(t, "Benjamini–Hochberg", must(BenjaminiHochberg(v.P)), v.BH, tight)
}

func testTOST(t *testing.T, data json.RawMessage) {
	var v struct {
		D       []float64
		Margin  float64 `json:"margin_log"`
		PLower  float64 `json:"p_lower"`
		PUpper  float64 `json:"p_upper"`
		P       float64 `json:"p_tost"`
		CI90    []float64
		Largest float64 `json:"largest_difference_excluded_log_at_95"`
	}
	decode(t, data, &v)
	e := must(TOST(v.D, v.Margin, 0.05))
	nearAll(t, "p", []float64{e.PLower, e.PUpper, e.P}, []float64{v.PLower, v.PUpper, v.P}, tight)
	nearAll(t, "interval", limits(e.CI), v.CI90, tight)
	relative(t, "largest", e.Largest, v.Largest, tight)
}

func testMaxT(t *testing.T, data json.RawMessage) {
	var v struct {
		TPS         [][]float64
		Observed, P float64
		N           int `json:"n_perm"`
	}
	decode(t, data, &v)
	r := must(MaxT(v.TPS))
	relative(t, "statistic", r.Statistic, v.Observed, tight)
	near(t, "p", r.P, v.P, tight)
	if r.Arrangements != v.N {
		t.Errorf("%d arrangements, want %d", r.Arrangements, v.N)
	}
}

func testLocation(t *testing.T, data json.RawMessage) {
	var v struct {
		X                   []float64
		Median, MAD, Q1, Q3 float64
		MADSD               float64   `json:"mad_sd"`
		Fences              []float64 `json:"tukey_fences"`
		Severe              []float64 `json:"severe_fences"`
		Trimmed             float64   `json:"trimmed_mean_10pct_each"`
		DropOne             float64   `json:"percona_drop_1_each"`
		Z                   []float64 `json:"hyperfine_modified_z"`
		Threshold           float64   `json:"hyperfine_outlier_threshold"`
	}
	decode(t, data, &v)
	l := must(Describe(v.X))
	nearAll(t, "location",
		[]float64{l.Median, l.MAD, l.MADSD, l.Q1, l.Q3, l.TrimmedMean, l.DropOneMean, HyperfineOutlier},
		[]float64{v.Median, v.MAD, v.MADSD, v.Q1, v.Q3, v.Trimmed, v.DropOne, v.Threshold}, tight)
	nearAll(t, "fences", limits(l.Fences), v.Fences, tight)
	nearAll(t, "severe fences", limits(l.SevereFences), v.Severe, tight)
	nearAll(t, "z", l.ModifiedZ, v.Z, tight)
}

func testAutocorrelation(t *testing.T, data json.RawMessage) {
	var v struct {
		X         []float64
		Lag1      float64
		Effective float64   `json:"n_eff_ar1"`
		Size      int       `json:"batch_size"`
		Means     []float64 `json:"batch_means"`
		SEBatch   float64   `json:"se_batch_means"`
		SENaive   float64   `json:"se_naive"`
	}
	decode(t, data, &v)
	s := must(Autocorrelation(v.X, v.Size))
	nearAll(t, "series", []float64{s.Lag1, s.Effective, s.SEBatch, s.SENaive},
		[]float64{v.Lag1, v.Effective, v.SEBatch, v.SENaive}, tight)
	nearAll(t, "batch means", s.BatchMeans, v.Means, tight)
}

func testMSER(t *testing.T, data json.RawMessage) {
	var v struct {
		X, Objective []float64
		Truncate     int  `json:"truncate_first_n_samples"`
		AtEdge       bool `json:"at_edge"`
	}
	decode(t, data, &v)
	w := must(MSER5(v.X))
	nearAll(t, "objective", w.Objective, v.Objective, tight)
	if w.Truncate != v.Truncate || w.AtEdge != v.AtEdge {
		t.Errorf("cut %d, at edge %v; want %d, %v", w.Truncate, w.AtEdge, v.Truncate, v.AtEdge)
	}
}

func testSteady(t *testing.T, data json.RawMessage) {
	var v struct {
		G        [][]float64
		T        []float64
		Critical float64
		Flag     []bool
	}
	decode(t, data, &v)
	trends, critical, err := SteadyState(v.G, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	relative(t, "critical", critical, v.Critical, tight)
	var flags []bool
	for j, trend := range trends {
		relative(t, "t", trend.T, v.T[j], tight)
		flags = append(flags, trend.Flag)
	}
	if !slices.Equal(flags, v.Flag) {
		t.Errorf("flags %v, want %v", flags, v.Flag)
	}
}

func testUSL(t *testing.T, data json.RawMessage) {
	var v struct {
		N, X                   []float64
		Lam, Sigma, Kappa, Tol float64
		RSS                    float64 `json:"rss_log"`
		Peak                   float64 `json:"n_star"`
		XMax                   float64 `json:"x_max"`
	}
	decode(t, data, &v)
	u := must(FitUSL(v.N, v.X))
	nearAll(t, "law", []float64{u.Lambda, u.Sigma, u.Kappa, u.RSS, u.Peak(), u.At(u.Peak())},
		[]float64{v.Lam, v.Sigma, v.Kappa, v.RSS, v.Peak, v.XMax}, v.Tol)
}

func testIncomplete(t *testing.T, data json.RawMessage) {
	var v struct {
		TPS       [][]*float64
		Contrasts []float64 `json:"contrasts_vs_first"`
		BSE       []float64
		MSE, DF   float64
	}
	decode(t, data, &v)
	tps := make([][]float64, len(v.TPS))
	for b, row := range v.TPS {
		tps[b] = make([]float64, len(row))
		for j, x := range row {
			tps[b][j] = math.NaN()
			if x != nil {
				tps[b][j] = *x
			}
		}
	}
	fit := must(IncompleteTwoWay(tps))
	nearAll(t, "effects", fit.Effects, v.Contrasts, tight)
	nearAll(t, "se", fit.SE, v.BSE, tight)
	nearAll(t, "fit", []float64{fit.MSE, fit.DF}, []float64{v.MSE, v.DF}, tight)
}

func testAncova(t *testing.T, data json.RawMessage) {
	var v struct {
		TPS, Calibration [][]float64
		Beta, MSE, DF    float64
		Effects          []float64 `json:"adjusted_contrasts"`
		SE               []float64
		Correlation      float64 `json:"correlation_within"`
	}
	decode(t, data, &v)
	a := must(CalibrationAncova(v.TPS, v.Calibration))
	nearAll(t, "ancova", []float64{a.Slope, a.MSE, a.DF, a.Correlation},
		[]float64{v.Beta, v.MSE, v.DF, v.Correlation}, tight)
	nearAll(t, "effects", a.Effects, v.Effects, tight)
	nearAll(t, "se", a.SE, v.SE, tight)
}

func testKalibera(t *testing.T, data json.RawMessage) {
	var v struct {
		Data    [][]float64
		Within  float64 `json:"S1_within"`
		Means   float64 `json:"S2_of_restart_means"`
		Between float64 `json:"T2_between"`
		Restart float64 `json:"cost_restart"`
		Slice   float64 `json:"cost_slice"`
		Optimal float64 `json:"optimal_slices_per_restart"`
	}
	decode(t, data, &v)
	l := must(KaliberaJones(v.Data))
	nearAll(t, "levels", []float64{l.Within, l.OfMeans, l.Between, must(l.Slices(v.Restart, v.Slice))},
		[]float64{v.Within, v.Means, v.Between, v.Optimal}, tight)
}

func testMixture(t *testing.T, data json.RawMessage) {
	var v struct {
		G, Alpha   float64
		K          int
		Multiplier []struct {
			N int
			C *float64
		}
	}
	decode(t, data, &v)
	for _, m := range v.Multiplier {
		want := math.Inf(1)
		if m.C != nil {
			want = *m.C
		}
		if got := MixtureMultiplier(m.N, v.K, v.Alpha, v.G); got != want {
			relative(t, "multiplier", got, want, tight)
		}
	}
}
