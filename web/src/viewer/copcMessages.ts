/** What the page and the worker of COPC send each other. */
export interface CopcRequest {
  id: number;
  kind: 'open' | 'page' | 'points';
  /** Of a node of the tree. */
  key: string;
  /** The file's address, the first time and whenever another one replaces it. */
  url?: string | undefined;
}

type Place = [x: number, y: number, z: number];

export interface CloudHead {
  min: Place;
  max: Place;
  cube: [...Place, ...Place];
  /** Between the points of the first node; each next one has half of it. */
  spacing: number;
  points: number;
}

export interface CloudPage {
  /** Each with the number of its points. */
  nodes: [key: string, count: number][];
  pages: string[];
}

export interface CloudPoints {
  /** From the middle of the cloud, with y up. */
  positions: Float32Array<ArrayBuffer>;
  colors: Uint16Array<ArrayBuffer>;
  intensities: Uint16Array<ArrayBuffer>;
  classes: Uint8Array<ArrayBuffer>;
}

export interface CopcReply {
  id: number;
  head?: CloudHead;
  page?: CloudPage;
  points?: CloudPoints;
  /** The failed reply of the storage, 0 if none came; null if the file is not what it should be. */
  status?: number | null;
}
