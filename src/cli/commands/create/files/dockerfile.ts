// A Dockerfile: it builds the image, and its EXPOSE is the port of the process `web`. Pure.
// Source: https://docs.docker.com/reference/dockerfile/#expose
import type { Found } from './found.ts'

/** The ports of the last stage. */
export function readDockerfile(text: string): Found {
  const notes: string[] = []
  let ports: readonly number[] = []
  let isRoot = true
  for (const line of text.split(/\r?\n/).slice(0, 5000)) {
    if (/^\s*FROM\s/i.test(line)) {
      ports = []
      isRoot = true
    }
    const [, exposed = ''] = /^\s*EXPOSE\s+(.+)$/i.exec(line) ?? []
    ports = [...ports, ...exposed.split(/\s+/).map(word => Number(/^(\d{1,5})(\/tcp)?$/.exec(word)?.[1] ?? 0))].filter(
      port => port > 0 && port < 65_536,
    )
    const [, user] = /^\s*USER\s+(\S+)/i.exec(line) ?? []
    if (user !== undefined) isRoot = /^(0|root)(:|$)/.test(user)
    if (/^\s*VOLUME\s/i.test(line))
      notes.push('VOLUME: spec.volumes of the Application keeps files; the rest of the image is read-only but /tmp')
  }
  const [port, ...others] = ports
  if (others.length > 0)
    notes.push(`EXPOSE names several ports: ${port} is that of web, ${others.join(', ')} are not reached from outside`)
  if (port === undefined) notes.push('no EXPOSE: the program has to listen on $PORT')
  if (isRoot)
    notes.push('the image runs as root: the platform runs it as a user of the tenant, so files that root owns cannot be written')
  return {
    file: 'Dockerfile',
    build: { strategy: 'Dockerfile' },
    processes: port === undefined ? [] : [{ name: 'web', port }],
    notes: [...new Set(notes)],
  }
}
