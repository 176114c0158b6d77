// The issuer across rotations of its keys: the library accepts keys only at construction, so each period gets an issuer of its
// own. All state is in the records, so a sign-in that began with one issuer completes with the next.
import type { Issuer } from './issuer.ts'
import type { IssuerKeys } from './issuer-keys.ts'

/** Forwards each call to the issuer of the present period, which `make` creates when it is first needed. */
export function createRotatingIssuer(keys: Pick<IssuerKeys, 'period'>, make: () => Issuer): Issuer {
  let present: { readonly period: number; readonly issuer: Issuer } | undefined
  const issuer = async (): Promise<Issuer> => {
    const period = await keys.period()
    if (present?.period !== period) present = { period, issuer: make() }
    return present.issuer
  }
  return {
    handle: async (request, response, address) => (await issuer()).handle(request, response, address),
    pending: async (request, response) => (await issuer()).pending(request, response),
    approve: async (request, response, subject) => (await issuer()).approve(request, response, subject),
    refuse: async (request, response, description) => (await issuer()).refuse(request, response, description),
    endSession: async (request, response) => (await issuer()).endSession(request, response),
    forgetOthers: async (request, response, subject) => (await issuer()).forgetOthers(request, response, subject),
  }
}
