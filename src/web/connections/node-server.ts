// A server of Node.js as all our processes serve: time limits, TLS with a certificate that may be replaced, the check of client
// certificates, and the bound of connections. It knows no path and reads no request.
import { constants } from 'node:crypto'
import { createServer as createHttpServer, type Server as HttpServer, type RequestListener, type ServerOptions } from 'node:http'
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { SecureContextOptions, TlsOptions } from 'node:tls'
import { type Clock, systemClock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { certificateAlarm } from '../certificate-alarm.ts'
import { type AddressList, parseAddressList } from '../clients/address-list.ts'
import type { Certificate, KeyPair } from '../tls.ts'
import { type ConnectionGuard, type ConnectionOptions, guardConnections } from './guard-connections.ts'

export type NodeServerOptions = {
  readonly log: Log
  /** Without a certificate the server uses plain HTTP: only for loopback and probes. */
  readonly certificate?: Certificate
  /** The common names of acceptable client certificates, where the certificate demands them. Default: any. */
  readonly clientNames?: readonly string[]
  /** For the check of the certificate's expiry. */
  readonly clock?: Clock
  /** The proxies that may name their clients. Default: no proxy. */
  readonly trustedProxies?: AddressList
  /** Every connection must then be one of a trusted proxy and begin with a header of the PROXY protocol. Default false. */
  readonly proxyProtocol?: boolean
  readonly connections?: Pick<ConnectionOptions, 'most' | 'maxOfClient'>
  /** How long clients may take, in milliseconds; tests shorten it. */
  readonly patience?: Partial<typeof defaultPatience>
}

/** A server that does not listen yet, and the guard of its connections. */
export type NodeServer = { readonly server: HttpServer | HttpsServer; readonly guard: ConnectionGuard }

/** For a TLS handshake, for the headers of a request after its connection or the request before, and for a whole request. */
export const defaultPatience = { handshake: 10_000, headers: 10_000, request: 30_000 }

export function createNodeServer(listener: RequestListener, options: NodeServerOptions): NodeServer {
  const { connections, proxyProtocol = false, trustedProxies } = options
  const server = unguarded(listener, options)
  const proxies = proxyProtocol ? { proxies: trustedProxies ?? parseAddressList('') } : {}
  return { server, guard: guardConnections(server, { ...connections, ...proxies }) }
}

/** Resolves to the port, which the system chooses for port 0. */
export function listenOn(
  { server }: NodeServer,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      // A server that listens on a host and a port has an address of this form.
      resolve((server.address() as AddressInfo).port)
    })
  })
}

/** Accepts nothing more, and resolves when every request is answered; idle connections end at once. Not to be called twice. */
export function endServer({ server, guard }: NodeServer): Promise<void> {
  guard.endSilent()
  return new Promise((resolve, reject) => server.close(error => (error === undefined ? resolve() : reject(error))))
}

function unguarded(listener: RequestListener, options: NodeServerOptions): HttpServer | HttpsServer {
  const { certificate, log, clock = systemClock, patience } = options
  const { handshake, headers, request } = { ...defaultPatience, ...patience }
  const limits: ServerOptions = {
    requestTimeout: request,
    headersTimeout: headers,
    // By default Node looks at the two limits above only every half minute.
    connectionsCheckingInterval: Math.min(1000, headers),
    keepAliveTimeout: 120_000,
    maxHeaderSize: 32_768,
  }
  if (certificate === undefined) return createHttpServer(limits, listener)
  const server = createHttpsServer({ ...limits, ...tlsOptions(certificate.current()), handshakeTimeout: handshake }, listener)
  if (certificate.current().clientAuthorities !== undefined && options.clientNames) acceptOnly(server, options.clientNames)
  const unsubscribe = certificate.onChange(next => server.setSecureContext(tlsOptions(next)))
  const alarm = certificateAlarm(certificate, { clock, log })
  alarm.start()
  server.once('close', () => {
    unsubscribe()
    void alarm.stop()
  })
  return server
}

function tlsOptions({ certificate, privateKey, clientAuthorities }: KeyPair): TlsOptions & SecureContextOptions {
  const pair = { cert: certificate, key: privateKey.reveal(), minVersion: 'TLSv1.2' } as const
  if (clientAuthorities === undefined) return pair
  // Without tickets: a resumed session would not be verified by an authority that was replaced since.
  const secureOptions = constants.SSL_OP_NO_TICKET
  return { ...pair, ca: clientAuthorities, requestCert: true, rejectUnauthorized: true, secureOptions }
}

/** Ends the connections of verified clients with another name, before a byte of a request is read. */
function acceptOnly(server: HttpsServer, names: readonly string[]): void {
  server.prependListener('secureConnection', socket => {
    const { subject } = socket.getPeerCertificate()
    const name: unknown = subject?.CN
    if (typeof name !== 'string' || !names.includes(name)) socket.destroy()
  })
}
