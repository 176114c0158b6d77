// The entry point of the token desk: its port, the desk itself, its sweep, and the routes for workloads.
export { createCountedAudit } from './counted-audit.ts'
export { createTokenDesk, type TokenDeskDeps } from './desk.ts'
export { type TokenRouteDeps, tokenRoutes } from './server/routes.ts'
export { createTokenSweep } from './sweep.ts'
export type { DeliveredToken, TokenDesk, TokenRequest } from './token-desk.ts'
