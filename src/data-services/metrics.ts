// What is counted of the PostgreSQL servers of ServiceClasses.
import { Counter, type Registry } from 'prom-client'
import { type CountStatement, purposes } from './adapters/postgresql/server.ts'

/** For the server of the class of this name: platform admins give it, and there are few. */
export type StatementCounter = (serviceClass: string) => CountStatement

/** Call once per registry. */
export function createStatementCounter(registry: Registry): StatementCounter {
  const statements = new Counter({
    name: 'sekisho_service_server_statements_total',
    help: 'Statements to the PostgreSQL server of a ServiceClass: look (at the whole server, once a minute), administrator (for one object, which is made, changed, ended or looked at by itself), login (a credential that is tried, and work inside of a database), guard (of the locks, every two seconds). Classes of one server and account are counted together, as the one that was opened first. Counted by the leader.',
    labelNames: ['service_class', 'purpose'],
    registers: [registry],
  })
  return serviceClass => {
    for (const purpose of purposes) statements.inc({ service_class: serviceClass, purpose }, 0)
    return purpose => statements.inc({ service_class: serviceClass, purpose })
  }
}
