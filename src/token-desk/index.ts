// The token desk's parts for the composition: the desk itself, its sweep, and the routes for workloads.
export { createTokenDesk, type TokenDeskDeps } from './desk.ts'
export { type TokenRouteDeps, tokenRoutes } from './server/routes.ts'
export { type SweepDeps, sweepUntil } from './sweep.ts'
export type { DeliveredToken, TokenDesk, TokenRequest } from './token-desk.ts'
