// The extensions of PostgreSQL that instances can have: those that PostgreSQL trusts, so that whoever may create objects in a
// database can create them and nobody gets rights on the server by them.
// Source: https://www.postgresql.org/docs/15/contrib.html (“trusted” in the text of each)
import { choice } from '../schema/schema.ts'

/** A closed list: an extension that is not in it may read files, open connections or run programs of the server. */
export const databaseExtensions = [
  'btree_gin',
  'btree_gist',
  'citext',
  'cube',
  'dict_int',
  'fuzzystrmatch',
  'hstore',
  'intarray',
  'isn',
  'lo',
  'ltree',
  'pg_trgm',
  'pgcrypto',
  'seg',
  'tablefunc',
  'tcn',
  'tsm_system_rows',
  'tsm_system_time',
  'unaccent',
  'uuid-ossp',
] as const

/** One extension, in a ServiceClass that allows it and a ServiceInstance that asks for it. */
export const databaseExtensionField = choice(databaseExtensions, { description: 'The name of an extension.' })
