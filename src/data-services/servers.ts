// The servers of the ServiceClasses: connections as their administrators. The controller of ServiceClasses opens one when it has
// read the Secret; the others use it. Nobody else keeps the password of a server.
import type { ServiceClass } from '../api/services/service-class.ts'
import type { SecretString } from '../lib/secret-string.ts'
import { type Credential, connectServer, type Server } from './adapters/postgresql/server.ts'

export type OpenServer = {
  readonly server: Server
  readonly host: string
  readonly port: number
  /** Undefined: connections are not encrypted. */
  readonly tls: { readonly ca: string | undefined } | undefined
}

export type Servers = {
  /** Undefined until the class was reconciled by this process. */
  readonly of: (serviceClass: string) => OpenServer | undefined
  /** The connection for what the class says now; the former one ends when something of it changed. */
  readonly open: (serviceClass: ServiceClass, credential: Credential, ca: string | undefined) => OpenServer
  readonly forget: (serviceClass: string) => Promise<void>
  readonly close: () => Promise<void>
}

type Entry = OpenServer & { readonly username: string; readonly password: SecretString }

/** As `spec.provider` of the class has it. */
export function providerOf({ spec }: ServiceClass) {
  const { postgresql } = spec.provider
  if (postgresql === undefined) throw new Error('the schema requires the member of the type')
  return postgresql
}

// Memory (servers): name of a ServiceClass → a pool of connections, its address, and the credential it was opened with
//   life: until the class is gone or says something else
//   bound: ServiceClasses, which platform admins make; four sessions each, none of them at rest
//   freshness: the class and its Secrets are read each minute
//   replicas: leader only
/** Opens nothing before it is asked. */
export function createServers(): Servers {
  const opened = new Map<string, Entry>()
  const forget = async (name: string): Promise<void> => {
    const entry = opened.get(name)
    opened.delete(name)
    await entry?.server.close()
  }
  return {
    of: name => opened.get(name),
    open(serviceClass, credential, ca) {
      const { name } = serviceClass.metadata
      const { host, port, tls: wanted } = providerOf(serviceClass)
      const tls = wanted.mode === 'Disable' ? undefined : { ca }
      const known = opened.get(name)
      if (known !== undefined && isSame(known, { host, port, tls, ...credential })) return known
      // Whoever works with the former one ends its work first.
      void known?.server.close()
      const server = connectServer({ host, port, ...(tls && { tls }) }, credential)
      const entry = { server, host, port, tls, ...credential }
      opened.set(name, entry)
      return entry
    },
    forget,
    async close() {
      await Promise.all([...opened.keys()].map(forget))
    },
  }
}

function isSame(known: Entry, wanted: Omit<Entry, 'server'>): boolean {
  return (
    known.host === wanted.host &&
    known.port === wanted.port &&
    (known.tls === undefined) === (wanted.tls === undefined) &&
    known.tls?.ca === wanted.tls?.ca &&
    known.username === wanted.username &&
    known.password.equals(wanted.password)
  )
}
