/** Opens the folders where they are in a drawer. */
import { createContext, use } from 'react';

export const DrawerContext = createContext<(isOpen: boolean) => void>(() => undefined);

export const useDrawer = (): ((isOpen: boolean) => void) => use(DrawerContext);
