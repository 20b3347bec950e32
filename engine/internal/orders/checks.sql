-- The consistency conditions of workload orders, each the number of cases that break it, and
-- the sums that are compared with what was loaded and done.

-- name: check-01
SELECT {{count}}(*) FROM {{at . "warehouse"}} LEFT JOIN (SELECT d_w_id, SUM(d_ytd) AS ytd FROM {{at . "district"}} GROUP BY d_w_id) t ON d_w_id = w_id
WHERE w_ytd <> COALESCE(ytd, -1);

-- name: check-02
-- Of a district without new-orders, the last order is looked at alone.
SELECT {{count}}(*) FROM {{at . "district"}}
LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS last_o FROM {{at . "orders"}} GROUP BY o_w_id, o_d_id) t ON o_w_id = d_w_id AND o_d_id = d_id
LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS last_new FROM {{at . "new_order"}} GROUP BY no_w_id, no_d_id) u ON no_w_id = d_w_id AND no_d_id = d_id
WHERE d_next_o_id - 1 <> COALESCE(last_o, -1) OR last_new IS NOT NULL AND last_new <> d_next_o_id - 1;

-- name: check-03
SELECT {{count}}(*) FROM (SELECT no_w_id FROM {{at . "new_order"}} GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> {{count}}(*)) x;

-- name: check-04
SELECT {{count}}(*) FROM (SELECT o_w_id, o_d_id, SUM({{big "o_ol_cnt"}}) AS line_count FROM {{at . "orders"}} GROUP BY o_w_id, o_d_id) t
LEFT JOIN (SELECT ol_w_id, ol_d_id, {{count}}(*) AS found FROM {{at . "order_line"}} GROUP BY ol_w_id, ol_d_id) u ON ol_w_id = o_w_id AND ol_d_id = o_d_id
WHERE line_count <> COALESCE(found, -1);

-- name: check-05
-- Orders without a carrier, and new-orders: what is only in one of them.
SELECT {{count}}(*) FROM (
  SELECT w FROM (
    SELECT o_w_id AS w, o_d_id AS d, o_id AS o, 1 AS side FROM {{at . "orders"}} WHERE o_carrier_id IS NULL
    UNION ALL SELECT no_w_id, no_d_id, no_o_id, -1 FROM {{at . "new_order"}}) sides
  GROUP BY w, d, o HAVING SUM(side) <> 0) x;

-- name: check-06
SELECT {{count}}(*) FROM (
  SELECT w FROM (
    SELECT o_w_id AS w, o_d_id AS d, o_id AS o, o_ol_cnt AS line_count FROM {{at . "orders"}}
    UNION ALL SELECT ol_w_id, ol_d_id, ol_o_id, -{{count}}(*) FROM {{at . "order_line"}} GROUP BY ol_w_id, ol_d_id, ol_o_id) sides
  GROUP BY w, d, o HAVING SUM(line_count) <> 0) x;

-- name: check-07
-- Orders with a carrier whose lines are not all delivered, or the reverse.
SELECT {{count}}(*) FROM (
  SELECT w FROM (
    SELECT o_w_id AS w, o_d_id AS d, o_id AS o, CASE WHEN o_carrier_id IS NULL THEN 0 ELSE o_ol_cnt END AS delivered FROM {{at . "orders"}}
    UNION ALL SELECT ol_w_id, ol_d_id, ol_o_id, -{{count}}(ol_delivery_d) FROM {{at . "order_line"}} GROUP BY ol_w_id, ol_d_id, ol_o_id) sides
  GROUP BY w, d, o HAVING SUM(delivered) <> 0) x;

-- name: check-08
SELECT {{count}}(*) FROM {{at . "warehouse"}} LEFT JOIN (SELECT h_w_id, SUM(h_amount) AS paid FROM {{at . "history"}} GROUP BY h_w_id) t ON h_w_id = w_id
WHERE w_ytd <> COALESCE(paid, -1);

-- name: check-09
SELECT {{count}}(*) FROM {{at . "district"}}
LEFT JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) AS paid FROM {{at . "history"}} GROUP BY h_w_id, h_d_id) t ON h_w_id = d_w_id AND h_d_id = d_id
WHERE d_ytd <> COALESCE(paid, -1);

-- name: check-10
SELECT {{count}}(*) FROM (
  SELECT w FROM (
    SELECT c_w_id AS w, c_d_id AS d, c_id AS c, c_balance AS cents FROM {{at . "customer"}}
    UNION ALL SELECT h_c_w_id, h_c_d_id, h_c_id, h_amount FROM {{at . "history"}}
    UNION ALL SELECT o_w_id, o_d_id, o_c_id, -amount FROM (
      SELECT ol_w_id, ol_d_id, ol_o_id, SUM(ol_amount) AS amount FROM {{at . "order_line"}} WHERE ol_delivery_d IS NOT NULL
      GROUP BY ol_w_id, ol_d_id, ol_o_id) t JOIN {{at . "orders"}} ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id) all_of_them
  GROUP BY w, d, c HAVING SUM(cents) <> 0) x;

-- name: check-11
SELECT {{count}}(*) FROM (
  SELECT w FROM (
    SELECT o_w_id AS w, o_d_id AS d, {{count}}(*) - {{.Delivered}} AS n FROM {{at . "orders"}} GROUP BY o_w_id, o_d_id
    UNION ALL SELECT no_w_id, no_d_id, -{{count}}(*) FROM {{at . "new_order"}} GROUP BY no_w_id, no_d_id
    UNION ALL SELECT c_w_id, c_d_id, -SUM({{big "c_delivery_cnt"}}) FROM {{at . "customer"}} GROUP BY c_w_id, c_d_id) all_of_them
  GROUP BY w, d HAVING SUM(n) <> 0) x;

-- name: check-12
SELECT {{count}}(*) FROM (
  SELECT w FROM (
    SELECT c_w_id AS w, c_d_id AS d, c_id AS c, c_balance + c_ytd_payment AS cents FROM {{at . "customer"}}
    UNION ALL SELECT o_w_id, o_d_id, o_c_id, -amount FROM (
      SELECT ol_w_id, ol_d_id, ol_o_id, SUM(ol_amount) AS amount FROM {{at . "order_line"}} WHERE ol_delivery_d IS NOT NULL
      GROUP BY ol_w_id, ol_d_id, ol_o_id) t JOIN {{at . "orders"}} ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id) all_of_them
  GROUP BY w, d, c HAVING SUM(cents) <> 0) x;

-- name: totals
SELECT (SELECT {{count}}(*) FROM {{at . "orders"}}), (SELECT {{count}}(*) FROM {{at . "order_line"}}), h.n, h.amount,
  (SELECT {{sum "w_ytd"}} FROM {{at . "warehouse"}}), (SELECT {{sum "d_ytd"}} FROM {{at . "district"}}), s.ytd, s.order_count, s.remote,
  (SELECT {{sum "c_payment_cnt"}} FROM {{at . "customer"}})
FROM (SELECT {{count}}(*) AS n, {{sum "h_amount"}} AS amount FROM {{at . "history"}}) h,
  (SELECT {{sum "s_ytd"}} AS ytd, {{sum "s_order_cnt"}} AS order_count, {{sum "s_remote_cnt"}} AS remote FROM {{at . "stock"}}) s;

-- name: loaded
{{range orders}}
SELECT {{big .Number}}, {{count}}(*), {{sum .Numbers}},
  {{if .Lengths}}{{sum .Lengths}}{{else}}{{big "0"}}{{end}} FROM {{at $ .Name}};
{{end}}
