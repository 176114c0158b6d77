// What a view needs: the state to show and the addresses to put into it. Every address of an answer or a page is made here; nothing is
// looked up.
// Two shapes are known: a GitHub Enterprise Server (REST under `/api/v3`, App pages under `/github-apps`) and github.com (App pages
// under `/apps`); the REST prefix is free, so that the second one can be served below a path of its own.
import type { World } from '../state/world.ts'

/** What every view is given. */
export type View = { readonly links: Links; readonly world: World }

export type Flavour = 'enterprise-server' | 'github.com'

export type Links = {
  readonly flavour: Flavour
  readonly webUrl: string
  readonly apiUrl: string
  /** Absolute address of a page; `path` begins with a slash. */
  web(path: string): string
  /** Absolute address of a REST resource; `path` begins with a slash. */
  api(path: string): string
  /** Public page of an App. */
  appPage(slug: string): string
  /** Page where an owner changes one installation. */
  installationPage(installationId: number): string
}

/** Links below `webUrl` (no trailing slash), REST below `webUrl + restPrefix` unless it has an address of its own. */
export function createLinks(webUrl: string, restPrefix: string, flavour: Flavour, apiUrl = `${webUrl}${restPrefix}`): Links {
  const web = (path: string): string => `${webUrl}${path}`
  return {
    flavour,
    webUrl,
    apiUrl,
    web,
    api: path => `${apiUrl}${path}`,
    appPage: slug => web(`${flavour === 'enterprise-server' ? '/github-apps' : '/apps'}/${slug}`),
    installationPage: installationId => web(`/settings/installations/${installationId}`),
  }
}

/** GitHub's opaque global id, in its older form. */
export function nodeId(type: string, id: number | string): string {
  return Buffer.from(`0${type.length}:${type}${id}`).toString('base64')
}
