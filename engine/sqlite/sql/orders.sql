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
