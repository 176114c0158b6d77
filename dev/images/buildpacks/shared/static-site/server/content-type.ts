// The media type of a file by its path. Files below .well-known often have a name without an extension, which their
// specifications fix together with the type.
import { extname } from 'node:path'
import { lookup } from 'mrmime'

const byName: Readonly<Record<string, string>> = {
  'apple-app-site-association': 'application/json',
  '.well-known/apple-app-site-association': 'application/json',
  '.well-known/host-meta': 'application/xrd+xml',
  '.well-known/matrix/client': 'application/json',
  '.well-known/matrix/server': 'application/json',
  '.well-known/matrix/support': 'application/json',
  '.well-known/nodeinfo': 'application/json',
  '.well-known/oauth-authorization-server': 'application/json',
  '.well-known/oauth-protected-resource': 'application/json',
  '.well-known/openid-configuration': 'application/json',
  '.well-known/webfinger': 'application/jrd+json',
}
const isText = /^text\/|[/+](?:xml|javascript)$/

/** Undefined where this table says nothing: the library that sends the file has a longer one. */
export function contentType(path: string): string | undefined {
  const extension = extname(path)
  const plain = extension === '' && path.startsWith('.well-known/') ? 'text/plain' : undefined
  const type = byName[path] ?? (extension === '' ? plain : lookup(extension))
  return type !== undefined && isText.test(type) ? `${type}; charset=utf-8` : type
}

/** Whether a path is one of a page or of a client-side router: no extension, `.html`, or one that no file type has. */
export function isPagePath(path: string): boolean {
  const extension = extname(path).toLowerCase()
  return /^(?:\.html?)?$/.test(extension) || (extension !== '.ico' && lookup(extension) === undefined)
}
