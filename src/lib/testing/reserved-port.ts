// Ports for programs of tests that cannot choose one themselves.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'

/** Above every fixed port of the local cluster and of test clusters, and below the node ports of Kubernetes. */
const first = 25_000
const last = 29_999
let next = first + ((process.pid * 37) % (last - first))

/** False when somebody listens there. */
function listens(
  where: { readonly path: string } | { readonly port: number; readonly host: string },
  keep: boolean,
): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer().unref()
    server.once('error', () => resolve(false))
    server.listen(where, () => (keep ? resolve(true) : server.close(() => resolve(true))))
  })
}

/** https://www.kernel.org/doc/html/latest/networking/ip-sysctl.html, `ip_local_port_range` */
function lowestEphemeral(): number {
  return Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s/)[0])
}

/**
 * A port that nobody listens on, and that no other call gets while this process lives, in whatever process, run or checkout:
 * each is claimed by a socket in Linux's abstract namespace, which the kernel releases. No connection of anybody gets it in
 * between, because it is not an ephemeral port.
 * @throws when all are in use, or when this machine has made them ephemeral
 */
export async function reservePort(): Promise<number> {
  if (lowestEphemeral() <= last)
    throw new Error(
      `tests need ports ${first} to ${last}: sysctl -w net.ipv4.ip_local_port_range="32768 60999" (Linux's default)`,
    )
  for (let tries = first; tries <= last; tries++) {
    const port = next
    next = port === last ? first : port + 1
    if (!(await listens({ path: `\0sekisho-port-${port}` }, true))) continue
    if (await listens({ port, host: '0.0.0.0' }, false)) return port
  }
  throw new Error(`all ports from ${first} to ${last} are in use`)
}
