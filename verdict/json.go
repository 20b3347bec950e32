package verdict

import (
	"encoding/json"
	"math"
)

// number is a float64 that is null in JSON when it is not known.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	if !finite(float64(n)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

func (n *number) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*n = number(math.NaN())
		return nil
	}
	return json.Unmarshal(data, (*float64)(n))
}

// The fields of the wire types hide those of the same name in the embedded
// types, whose other fields stay as they are.

type plainEstimate Estimate

type wireEstimate struct {
	plainEstimate
	Effect     number `json:"effect"`
	SE         number `json:"se"`
	Lo         number `json:"lo"`
	Hi         number `json:"hi"`
	RawEffect  number `json:"raw_effect"`
	Regret     number `json:"regret"`
	Typical    number `json:"typical"`
	InstanceSD number `json:"instance_sd"`
}

// MarshalJSON writes what is not known as null.
func (e Estimate) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireEstimate{
		plainEstimate: plainEstimate(e),
		Effect:        number(e.Effect),
		SE:            number(e.SE),
		Lo:            number(e.Lo),
		Hi:            number(e.Hi),
		RawEffect:     number(e.RawEffect),
		Regret:        number(e.Regret),
		Typical:       number(e.Typical),
		InstanceSD:    number(e.InstanceSD),
	})
}

// UnmarshalJSON reads null and absent numbers as NaN.
func (e *Estimate) UnmarshalJSON(data []byte) error {
	nan := number(math.NaN())
	w := wireEstimate{
		Effect: nan, SE: nan, Lo: nan, Hi: nan,
		RawEffect: nan, Regret: nan, Typical: nan, InstanceSD: nan,
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*e = Estimate(w.plainEstimate)
	e.Effect, e.SE, e.Lo, e.Hi = float64(w.Effect), float64(w.SE), float64(w.Lo), float64(w.Hi)
	e.RawEffect, e.Regret = float64(w.RawEffect), float64(w.Regret)
	e.Typical, e.InstanceSD = float64(w.Typical), float64(w.InstanceSD)
	return nil
}

type plainLook Look

type wireLook struct {
	plainLook
	PooledVar         number `json:"pooled_var"`
	CTwoSided         number `json:"c_two_sided"`
	COneSided         number `json:"c_one_sided"`
	Tolerance         number `json:"tolerance"`
	CalibrationSlope  number `json:"calibration_slope"`
	LargestDifference number `json:"largest_difference"`
}

// MarshalJSON writes what is not known as null.
func (l Look) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireLook{
		plainLook:         plainLook(l),
		PooledVar:         number(l.PooledVar),
		CTwoSided:         number(l.CTwoSided),
		COneSided:         number(l.COneSided),
		Tolerance:         number(l.Tolerance),
		CalibrationSlope:  number(l.CalibrationSlope),
		LargestDifference: number(l.LargestDifference),
	})
}

// UnmarshalJSON reads null and absent numbers as NaN.
func (l *Look) UnmarshalJSON(data []byte) error {
	nan := number(math.NaN())
	w := wireLook{
		PooledVar: nan, CTwoSided: nan, COneSided: nan,
		Tolerance: nan, CalibrationSlope: nan, LargestDifference: nan,
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*l = Look(w.plainLook)
	l.PooledVar, l.CTwoSided, l.COneSided = float64(w.PooledVar), float64(w.CTwoSided), float64(w.COneSided)
	l.Tolerance, l.CalibrationSlope = float64(w.Tolerance), float64(w.CalibrationSlope)
	l.LargestDifference = float64(w.LargestDifference)
	return nil
}
