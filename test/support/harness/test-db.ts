import type { Knex } from 'knex';

/** A pool whose rows are untyped: cases read and write what no store of the product does. */
export interface TestDb extends Knex {
  // biome-ignore lint/suspicious/noExplicitAny: of any table.
  (table: string | Knex.Raw): Knex.QueryBuilder<any, any[]>;
  <Row extends object>(table: string): Knex.QueryBuilder<Row, Row[]>;
}
