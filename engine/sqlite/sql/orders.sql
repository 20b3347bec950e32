-- Workload orders on SQLite. Warehouse w lies in file (w − 1) mod files, with all
-- that is its; items are in every file. Transactions are statements prepared in
-- the process. Db is the prefix of the file that a statement works on: empty, or
-- an attached file's name and a dot. Checks see tables of all files as one.

-- name: tables
{{range orders}}
CREATE TABLE {{.Name}} (
{{.Columns}}{{if .Key}},
  PRIMARY KEY ({{.Key}}){{end}}
){{if eq .Name "district" "new_order" "orders" "order_line"}} WITHOUT ROWID{{end}};
{{end}}

-- name: indexes
CREATE INDEX customer_name ON customer (c_w_id, c_d_id, c_last, c_first);
CREATE UNIQUE INDEX orders_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);
ANALYZE;

-- name: lock
-- Takes the file's write lock and changes nothing.
DELETE FROM {{.Db}}warehouse WHERE w_id < 0;

-- name: new-order-customer
SELECT c_discount, c_last, c_credit FROM {{.Db}}customer WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3;

-- name: new-order-warehouse
SELECT w_tax FROM {{.Db}}warehouse WHERE w_id = ?1;

-- name: new-order-district
UPDATE {{.Db}}district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ?1 AND d_id = ?2 RETURNING d_next_o_id - 1, d_tax;

-- name: new-order-order
INSERT INTO {{.Db}}orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) VALUES (?1, ?2, ?3, ?4, ?5, NULL, ?6, ?7);

-- name: new-order-new
INSERT INTO {{.Db}}new_order (no_w_id, no_d_id, no_o_id) VALUES (?1, ?2, ?3);

-- name: new-order-item
SELECT i_price, i_name, i_data FROM {{.Db}}item WHERE i_id = ?1;

-- name: new-order-stock
UPDATE {{.Db}}stock SET
  s_quantity = s_quantity - ?3 + CASE WHEN s_quantity >= ?3 + 10 THEN 0 ELSE 91 END,
  s_ytd = s_ytd + ?3, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + ?4
WHERE s_w_id = ?1 AND s_i_id = ?2
RETURNING CASE ?5 WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05
  WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END, s_data;

-- name: new-order-line
INSERT INTO {{.Db}}order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, NULL, ?7, ?8, ?9);

-- name: payment-warehouse
UPDATE {{.Db}}warehouse SET w_ytd = w_ytd + ?2 WHERE w_id = ?1 RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip;

-- name: payment-district
UPDATE {{.Db}}district SET d_ytd = d_ytd + ?3 WHERE d_w_id = ?1 AND d_id = ?2 RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip;

-- name: customer-by-name
-- The one in the middle, by first name, rounded up (2.5.2.2).
SELECT c_id FROM {{.Db}}customer WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_last = ?3 ORDER BY c_first
LIMIT 1 OFFSET (SELECT (count(*) - 1) / 2 FROM {{.Db}}customer WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_last = ?3);

-- name: payment-customer
UPDATE {{.Db}}customer SET c_balance = c_balance - ?4, c_ytd_payment = c_ytd_payment + ?4, c_payment_cnt = c_payment_cnt + 1,
  c_data = CASE c_credit WHEN 'BC' THEN substr(c_id || ' ' || c_d_id || ' ' || c_w_id || ' ' || ?6 || ' ' || ?5 || ' ' || ?4 || ' ' || c_data, 1, 500) ELSE c_data END
WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3
RETURNING c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance;

-- name: payment-history
INSERT INTO {{.Db}}history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8);

-- name: order-status-customer
SELECT c_balance, c_first, c_middle, c_last FROM {{.Db}}customer WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3;

-- name: order-status-order
SELECT o_id, o_entry_d, o_carrier_id FROM {{.Db}}orders WHERE o_w_id = ?1 AND o_d_id = ?2 AND o_c_id = ?3 ORDER BY o_id DESC LIMIT 1;

-- name: order-status-lines
SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM {{.Db}}order_line WHERE ol_w_id = ?1 AND ol_d_id = ?2 AND ol_o_id = ?3;

-- name: delivery-oldest
SELECT no_o_id FROM {{.Db}}new_order WHERE no_w_id = ?1 AND no_d_id = ?2 ORDER BY no_o_id LIMIT 1;

-- name: delivery-delete
DELETE FROM {{.Db}}new_order WHERE no_w_id = ?1 AND no_d_id = ?2 AND no_o_id = ?3;

-- name: delivery-order
UPDATE {{.Db}}orders SET o_carrier_id = ?4 WHERE o_w_id = ?1 AND o_d_id = ?2 AND o_id = ?3 RETURNING o_c_id;

-- name: delivery-lines
UPDATE {{.Db}}order_line SET ol_delivery_d = ?4 WHERE ol_w_id = ?1 AND ol_d_id = ?2 AND ol_o_id = ?3;

-- name: delivery-sum
SELECT sum(ol_amount) FROM {{.Db}}order_line WHERE ol_w_id = ?1 AND ol_d_id = ?2 AND ol_o_id = ?3;

-- name: delivery-customer
UPDATE {{.Db}}customer SET c_balance = c_balance + ?4, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3;

-- name: stock-level-next
SELECT d_next_o_id FROM {{.Db}}district WHERE d_w_id = ?1 AND d_id = ?2;

-- name: stock-level-count
SELECT count(*) FROM (
  SELECT DISTINCT ol_i_id FROM {{.Db}}order_line WHERE ol_w_id = ?1 AND ol_d_id = ?2 AND ol_o_id >= ?3 - 20 AND ol_o_id < ?3)
JOIN {{.Db}}stock ON s_w_id = ?1 AND s_i_id = ol_i_id WHERE s_quantity < ?4;

-- name: churn
-- Each statement is a transaction; Number is unique.
CREATE TABLE {{ident (print "fw_churn_" .Number)}} (content CHAR(1000) NOT NULL);
INSERT INTO {{ident (print "fw_churn_" .Number)}} (content) VALUES ('{{.Content}}');
DROP TABLE {{ident (print "fw_churn_" .Number)}};

-- name: check-01
SELECT count(*) FROM warehouse LEFT JOIN (SELECT d_w_id, sum(d_ytd) AS ytd FROM district GROUP BY d_w_id) ON d_w_id = w_id
WHERE w_ytd IS NOT ytd;

-- name: check-02
-- Of a district without new-orders, the last order is looked at alone.
SELECT count(*) FROM district
LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS last FROM orders GROUP BY o_w_id, o_d_id) ON o_w_id = d_w_id AND o_d_id = d_id
LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS last_new FROM new_order GROUP BY no_w_id, no_d_id) ON no_w_id = d_w_id AND no_d_id = d_id
WHERE d_next_o_id - 1 IS NOT last OR last_new IS NOT NULL AND last_new <> d_next_o_id - 1;

-- name: check-03
SELECT count(*) FROM (SELECT 1 FROM new_order GROUP BY no_w_id, no_d_id HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*));

-- name: check-04
SELECT count(*) FROM (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS lines FROM orders GROUP BY o_w_id, o_d_id)
LEFT JOIN (SELECT ol_w_id, ol_d_id, count(*) AS found FROM order_line GROUP BY ol_w_id, ol_d_id) ON ol_w_id = o_w_id AND ol_d_id = o_d_id
WHERE lines IS NOT found;

-- name: check-05
-- Orders without a carrier, and new-orders: what is only in one of them.
SELECT count(*) FROM (
  SELECT 1 FROM (
    SELECT o_w_id AS w, o_d_id AS d, o_id AS o, 1 AS side FROM orders WHERE o_carrier_id IS NULL
    UNION ALL SELECT no_w_id, no_d_id, no_o_id, -1 FROM new_order)
  GROUP BY w, d, o HAVING sum(side) <> 0);

-- name: check-06
SELECT count(*) FROM (
  SELECT 1 FROM (
    SELECT o_w_id AS w, o_d_id AS d, o_id AS o, o_ol_cnt AS lines FROM orders
    UNION ALL SELECT ol_w_id, ol_d_id, ol_o_id, -count(*) FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id)
  GROUP BY w, d, o HAVING sum(lines) <> 0);

-- name: check-07
-- Orders with a carrier whose lines are not all delivered, or the reverse.
SELECT count(*) FROM (
  SELECT 1 FROM (
    SELECT o_w_id AS w, o_d_id AS d, o_id AS o, CASE WHEN o_carrier_id IS NULL THEN 0 ELSE o_ol_cnt END AS delivered FROM orders
    UNION ALL SELECT ol_w_id, ol_d_id, ol_o_id, -count(ol_delivery_d) FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id)
  GROUP BY w, d, o HAVING sum(delivered) <> 0);

-- name: check-08
SELECT count(*) FROM warehouse LEFT JOIN (SELECT h_w_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id) ON h_w_id = w_id
WHERE w_ytd IS NOT paid;

-- name: check-09
SELECT count(*) FROM district
LEFT JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS paid FROM history GROUP BY h_w_id, h_d_id) ON h_w_id = d_w_id AND h_d_id = d_id
WHERE d_ytd IS NOT paid;

-- name: check-10
SELECT count(*) FROM (
  SELECT 1 FROM (
    SELECT c_w_id AS w, c_d_id AS d, c_id AS c, c_balance AS cents FROM customer
    UNION ALL SELECT h_c_w_id, h_c_d_id, h_c_id, h_amount FROM history
    UNION ALL SELECT w, d, o_c_id, -amount FROM (
      SELECT ol_w_id AS w, ol_d_id AS d, ol_o_id AS o, sum(ol_amount) AS amount FROM order_line WHERE ol_delivery_d IS NOT NULL
      GROUP BY ol_w_id, ol_d_id, ol_o_id) JOIN orders ON o_w_id = w AND o_d_id = d AND o_id = o)
  GROUP BY w, d, c HAVING sum(cents) <> 0);

-- name: check-11
SELECT count(*) FROM (
  SELECT 1 FROM (
    SELECT o_w_id AS w, o_d_id AS d, count(*) - {{.Delivered}} AS n FROM orders GROUP BY o_w_id, o_d_id
    UNION ALL SELECT no_w_id, no_d_id, -count(*) FROM new_order GROUP BY no_w_id, no_d_id
    UNION ALL SELECT c_w_id, c_d_id, -sum(c_delivery_cnt) FROM customer GROUP BY c_w_id, c_d_id)
  GROUP BY w, d HAVING sum(n) <> 0);

-- name: check-12
SELECT count(*) FROM (
  SELECT 1 FROM (
    SELECT c_w_id AS w, c_d_id AS d, c_id AS c, c_balance + c_ytd_payment AS cents FROM customer
    UNION ALL SELECT w, d, o_c_id, -amount FROM (
      SELECT ol_w_id AS w, ol_d_id AS d, ol_o_id AS o, sum(ol_amount) AS amount FROM order_line WHERE ol_delivery_d IS NOT NULL
      GROUP BY ol_w_id, ol_d_id, ol_o_id) JOIN orders ON o_w_id = w AND o_d_id = d AND o_id = o)
  GROUP BY w, d, c HAVING sum(cents) <> 0);

-- name: totals
SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM order_line), (SELECT count(*) FROM history), (SELECT sum(h_amount) FROM history),
  (SELECT sum(w_ytd) FROM warehouse), (SELECT sum(d_ytd) FROM district), (SELECT sum(s_ytd) FROM stock), (SELECT sum(s_order_cnt) FROM stock),
  (SELECT sum(s_remote_cnt) FROM stock), (SELECT sum(c_payment_cnt) FROM customer);

-- name: loaded
SELECT 1, count(*), sum(w_id + w_tax + w_ytd), sum(length(w_name) + length(w_street_1) + length(w_street_2) + length(w_city) + length(w_state) + length(w_zip)) FROM warehouse;
SELECT 2, count(*), sum(d_w_id + d_id + d_tax + d_ytd + d_next_o_id),
  sum(length(d_name) + length(d_street_1) + length(d_street_2) + length(d_city) + length(d_state) + length(d_zip)) FROM district;
SELECT 3, count(*), sum(c_w_id + c_d_id + c_id + c_since + c_credit_lim + c_discount + c_balance + c_ytd_payment + c_payment_cnt + c_delivery_cnt),
  sum(length(c_first) + length(c_middle) + length(c_last) + length(c_street_1) + length(c_street_2) + length(c_city) + length(c_state)
    + length(c_zip) + length(c_phone) + length(c_credit) + length(c_data)) FROM customer;
SELECT 4, count(*), sum(h_c_id + h_c_d_id + h_c_w_id + h_d_id + h_w_id + h_date + h_amount), sum(length(h_data)) FROM history;
SELECT 5, count(*), sum(no_w_id + no_d_id + no_o_id), 0 FROM new_order;
SELECT 6, count(*), sum(o_w_id + o_d_id + o_id + o_c_id + o_entry_d + coalesce(o_carrier_id, 0) + o_ol_cnt + o_all_local), 0 FROM orders;
SELECT 7, count(*), sum(ol_w_id + ol_d_id + ol_o_id + ol_number + ol_i_id + ol_supply_w_id + coalesce(ol_delivery_d, 0) + ol_quantity + ol_amount),
  sum(length(ol_dist_info)) FROM order_line;
SELECT 8, count(*), sum(i_id + i_im_id + i_price), sum(length(i_name) + length(i_data)) FROM item;
SELECT 9, count(*), sum(s_w_id + s_i_id + s_quantity + s_ytd + s_order_cnt + s_remote_cnt),
  sum(length(s_dist_01) + length(s_dist_02) + length(s_dist_03) + length(s_dist_04) + length(s_dist_05) + length(s_dist_06) + length(s_dist_07)
    + length(s_dist_08) + length(s_dist_09) + length(s_dist_10) + length(s_data)) FROM stock;
