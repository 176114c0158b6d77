// The input of every view: the state to show and the links to put into it. All addresses in responses and pages are made here.
// There are two forms: GitHub Enterprise Server (REST under `/api/v3`, App pages under `/github-apps`) and github.com (App
// pages under `/apps`). The REST prefix is free, so that the second form can be served below a path.
import type { GitHubState } from '../state/github-state.ts'

/** The input of every view. */
export type View = { readonly links: Links; readonly state: GitHubState }

export type Flavour = 'enterprise-server' | 'github.com'

export type Links = {
  readonly flavour: Flavour
  readonly webUrl: string
  readonly apiUrl: string
  /** Absolute URL of a page; `path` starts with a slash. */
  web(path: string): string
  /** Absolute URL of a REST resource; `path` starts with a slash. */
  api(path: string): string
  /** Public page of an App. */
  appPage(slug: string): string
  /** The page on which an owner changes one installation. */
  installationPage(installationId: number): string
}

/** Links below `webUrl` (no trailing slash); REST below `webUrl + restPrefix` unless it has its own URL. */
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
